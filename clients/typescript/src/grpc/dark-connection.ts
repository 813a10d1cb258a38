import { Code, ConnectError } from "@connectrpc/connect";

/** The cause of a call's end: its connection was open but answered nothing, and is replaced by another. */
export class DarkConnection extends Error {
  override readonly name = "DarkConnection";

  constructor() {
    super("The connection answered nothing. Another one takes its place.");
  }
}

/** Whether a signal was aborted because time is up, and not because the caller changed its mind. */
export function isLimit(reason: unknown): boolean {
  if (reason instanceof ConnectError) return reason.code === Code.DeadlineExceeded;
  if (!(reason instanceof Error)) return false;
  return reason.name === "TimeoutError" || ("code" in reason && reason.code === "DEADLINE_EXCEEDED");
}
