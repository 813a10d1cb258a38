import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { type ErrorReason, IdError } from "../../errors.ts";
import { type CallGuard, type GuardedCall, newNotes } from "../call/call-guard.ts";
import type { DispatchRequest } from "../call/dispatch.ts";
import { peerKey, unknownPeer } from "../call/peer.ts";
import { textAnswer } from "../call/text-answer.ts";
import { Lag } from "./event-loop-lag.ts";
import { expositionType, writeExposition } from "./exposition.ts";
import type { MetricSources } from "./metric-sources.ts";
import { readSamples } from "./read-samples.ts";

/** The path as the guards see it. It is not a method of a service, so it has no row in the table of methods. */
const traits = { index: 0, path: "/metrics", access: "observe", streams: false, handsOutOne: false } as const;

/** The sources of {@link createMetricsPage}, and its guard's report. */
export interface MetricsPageOptions extends Omit<MetricSources, "lag"> {
  /** Called with each caller that may not observe: a token is no easier to guess here than by a call. */
  readonly onRefused: (call: GuardedCall, reason: ErrorReason) => void;
}

/**
 * Answers GET and HEAD of `/metrics`: 401 and 403 where the caller may not observe.
 *
 * @param authentication - Asked whether it may. Undefined: every caller may.
 */
export type MetricsPage = (request: DispatchRequest, authentication: CallGuard | undefined) => UniversalServerResponse;

/** See {@link MetricsPage}. */
export function createMetricsPage(options: MetricsPageOptions): MetricsPage {
  const { onRefused } = options;
  const sources: MetricSources = { ...options, lag: new Lag() };
  return (request, authentication) => {
    const { method } = request;
    if (method !== "GET" && method !== "HEAD") return textAnswer(405, method, "Use GET or HEAD here.\n");
    const refusal = authentication && refusalOf(request, authentication, onRefused);
    return (
      refusal ?? textAnswer(200, method, writeExposition(readSamples(sources)), { "content-type": expositionType })
    );
  };
}

/** The answer to a caller that may not observe. */
function refusalOf(
  { method, header, contextValues }: DispatchRequest,
  authentication: CallGuard,
  onRefused: MetricsPageOptions["onRefused"],
): UniversalServerResponse | undefined {
  const call: GuardedCall = {
    traits,
    peer: contextValues?.get(peerKey) ?? unknownPeer,
    notes: newNotes(),
    startedMs: undefined,
    header: (name) => header.get(name) ?? undefined,
  };
  try {
    authentication.begin(call);
    return undefined;
  } catch (error) {
    if (!(error instanceof IdError)) throw error;
    onRefused(call, error.reason);
    const line = `${error.reason}: ${error.message}\n`;
    if (error.reason !== "MISSING_CREDENTIALS") return textAnswer(403, method, line);
    return textAnswer(401, method, line, { "www-authenticate": 'Bearer realm="snowlane"' });
  }
}
