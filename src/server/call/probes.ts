import { Code, ConnectError } from "@connectrpc/connect";
import { createAsyncIterable, type UniversalServerResponse } from "@connectrpc/connect/protocol";
import type { IdError } from "../../errors.ts";
import { codeOfReason } from "../../service/connect-error.ts";
import { prefixBytes } from "../../service/hot/hot-method.ts";
import { encodeMessage } from "./envelope/grpc-message.ts";
import { textAnswer } from "./text-answer.ts";

/** Gives the error that a call for an ID would get now; undefined where the server is ready for calls. */
export type FindUnready = () => Pick<IdError, "reason" | "message"> | undefined;

/** Makes a finder for which a server that drains is not ready. @param drainSignal - Its reason is a ConnectError. */
export function unreadyOnDrain(drainSignal: AbortSignal, findUnready: FindUnready): FindUnready {
  return () => {
    if (!drainSignal.aborted) return findUnready();
    return { reason: "SHUTTING_DOWN", message: ConnectError.from(drainSignal.reason).rawMessage };
  };
}

/**
 * Answers the probes of an orchestrator, which need no credentials. `/healthz`: the process answers. `/readyz`: it can
 * issue IDs; else 503, with the reason of docs/errors.md as the first word.
 *
 * @returns undefined for every other path.
 */
export function answerProbe(
  { path, method }: { readonly path: string; readonly method: string },
  findUnready: FindUnready,
): UniversalServerResponse | undefined {
  if (path !== "/healthz" && path !== "/readyz") return undefined;
  if (method !== "GET" && method !== "HEAD") return textAnswer(405, method, "Use GET or HEAD here.\n");
  const unready = path === "/readyz" ? findUnready() : undefined;
  if (unready !== undefined) return textAnswer(503, method, `${unready.reason}: ${shownMessage(unready)}\n`);
  return textAnswer(200, method, "ok\n");
}

/**
 * The path of the probe for balancers of gRPC, which look at the status of a call alone and require a method's path.
 */
const grpcProbePath = "/snowlane.v1.Probe/Ready";

/**
 * Answers the probe of a balancer that speaks gRPC and reads no message, such as AWS ALB. The call succeeds where
 * `/readyz` is 200, and fails with UNAVAILABLE and the same text where it is 503. Its request is not read.
 *
 * @returns undefined for every other path.
 */
export function answerGrpcProbe(
  path: string,
  contentType: string,
  findUnready: FindUnready,
): UniversalServerResponse | undefined {
  if (path !== grpcProbePath || contentType.startsWith("application/grpc-web")) return undefined;
  const header = new Headers({ "content-type": contentType, "cache-control": "no-store" });
  const unready = findUnready();
  if (unready !== undefined) {
    header.set("grpc-status", String(Code.Unavailable));
    header.set("grpc-message", encodeMessage(`${unready.reason}: ${shownMessage(unready)}`));
    return { status: 200, header };
  }
  const emptyMessage = new Uint8Array(prefixBytes);
  return {
    status: 200,
    header,
    body: createAsyncIterable([emptyMessage]),
    trailer: new Headers({ "grpc-status": "0" }),
  };
}

/** An error that ends a start, and never a call, is for the log alone: it may name users, hosts and paths. */
function shownMessage({ reason, message }: NonNullable<ReturnType<FindUnready>>): string {
  return reason in codeOfReason ? message : "The start has failed, and the log has the cause.";
}
