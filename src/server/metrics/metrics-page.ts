import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { IdError } from "../../errors.ts";
import { type CallGuard, newNotes } from "../call/call-guard.ts";
import type { DispatchRequest } from "../call/dispatch.ts";
import { peerKey, unknownPeer } from "../call/peer.ts";
import { textAnswer } from "../call/text-answer.ts";
import { expositionType, writeExposition } from "./exposition.ts";
import { type MetricSources, readSamples } from "./server-metrics.ts";

/** The path as the guards see it. It is no method of a service, so it has no row of the table of methods. */
const traits = { index: 0, path: "/metrics", access: "observe", streams: false } as const;

/** The parts of {@link answerMetrics}. */
export interface MetricsPageOptions {
  readonly sources: MetricSources;
  /** Asked whether the caller may observe. Undefined: everybody may. */
  readonly authentication: CallGuard | undefined;
}

/** Answers GET and HEAD of `/metrics`; 401 and 403 where the caller may not observe. */
export function answerMetrics(
  request: DispatchRequest,
  { sources, authentication }: MetricsPageOptions,
): UniversalServerResponse {
  const { method, header, contextValues } = request;
  if (method !== "GET" && method !== "HEAD") return textAnswer(405, method, "Send GET or HEAD here.\n");
  try {
    authentication?.begin({
      traits,
      peer: contextValues?.get(peerKey) ?? unknownPeer,
      notes: newNotes(),
      startedMs: undefined,
      header: (name) => header.get(name) ?? undefined,
    });
  } catch (error) {
    if (!(error instanceof IdError)) throw error;
    const line = `${error.reason}: ${error.message}\n`;
    if (error.reason !== "MISSING_CREDENTIALS") return textAnswer(403, method, line);
    return textAnswer(401, method, line, { "www-authenticate": 'Bearer realm="snowlane"' });
  }
  return textAnswer(200, method, writeExposition(readSamples(sources)), { "content-type": expositionType });
}
