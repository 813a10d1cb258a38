import { IdError } from "../errors.ts";
import { createHotMethods } from "../hot-methods.ts";
import { errorInterceptor, toConnectError } from "../service/status.ts";
import type { Application } from "./application.ts";
import { type CallGuard, guardInterceptor, type ToCallError } from "./call-guard.ts";
import { createDispatch } from "./dispatch.ts";
import { type ConnectionOptions, type ConnectionServer, createConnectionServer } from "./http-servers.ts";
import type { Log } from "./log.ts";
import { createRoutes, type ServicesOptions } from "./routes.ts";

/** Everything above the socket: connections, dispatch and services. */
export interface Answering extends ConnectionServer {
  /** Ends the calls that are still in flight with SHUTTING_DOWN; resolves when they have ended. */
  readonly endCalls: () => Promise<void>;
}

/** What RetryInfo says of a server that goes: about as long as another needs to take its place. */
const retryElsewhereMs = 1_000;

/** What everything above the socket is made from. */
export interface AnsweringOptions extends ServicesOptions, ConnectionOptions {
  /** Pages of these origins may call. */
  readonly corsOrigins: readonly string[];
  readonly log: Log;
  /** Asked for every call, in their order. */
  readonly guards: readonly CallGuard[];
}

/** Puts services, dispatch and connections together. Draining begins with NOT_SERVING in health. */
export function createAnswering(options: AnsweringOptions): Answering {
  const { log, guards, onFault } = options;
  const drain = new AbortController();
  const shutdown = new AbortController();
  const onUnforeseen = (error: unknown, method: string): void => {
    log.error("A call failed for a cause of ours", { method, error });
    onFault(error);
  };
  const toError: ToCallError = (error, path) => toConnectError(error, (cause) => onUnforeseen(cause, path.slice(1)));
  const dispatch = createDispatch({
    routes: createRoutes(options, drain.signal),
    interceptors: [guardInterceptor(guards, toError), errorInterceptor(onUnforeseen)],
    shutdownSignal: shutdown.signal,
    corsOrigins: options.corsOrigins,
  });
  const application: Application = {
    dispatch,
    hotMethods: createHotMethods(options),
    guards,
    toError,
    shutdownSignal: shutdown.signal,
  };
  const connections = createConnectionServer(application, options);
  const message = "The server is shutting down: call another one.";
  const goingDown = new IdError("SHUTTING_DOWN", message, { retryAfterMs: retryElsewhereMs });
  const reason = toConnectError(goingDown, onFault);
  return {
    ...connections,
    drain: () => {
      drain.abort(reason);
      return connections.drain();
    },
    endCalls: () => {
      shutdown.abort(reason);
      return connections.drain();
    },
  };
}
