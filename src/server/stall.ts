import type { ConnectError } from "@connectrpc/connect";
import { IdError } from "../errors.ts";
import { toConnectError } from "../service/status.ts";

/** How long a reader that stalled has to fetch the error that ends its stream, before the stream is reset. */
export const stallGraceMs = 5_000;

/**
 * What a call ends with whose reader takes nothing; as what a call may end with, because it also ends what is not a
 * handler of ours.
 */
export function stallError(stallTimeoutMs: number): ConnectError {
  const message = `The reader took nothing for ${stallTimeoutMs} ms.`;
  const details = { metadata: { stall_timeout_ms: stallTimeoutMs }, retryAfterMs: 0 };
  return toConnectError(new IdError("STREAM_STALLED", message, details), () => undefined);
}
