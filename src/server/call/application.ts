import type { ConnectRouter } from "@connectrpc/connect";
import { errorInterceptor, type ToCallError, toConnectError } from "../../service/connect-error.ts";
import { createHealth, createHealthBoard } from "../../service/health.ts";
import type { HotMethod } from "../../service/hot/hot-method.ts";
import { createReflection } from "../../service/reflection.ts";
import type { Service } from "../../service/service.ts";
import { type Caller, type CallGuard, guardInterceptor } from "./call-guard.ts";
import { CrossOrigin } from "./cors.ts";
import { type AnswerMetrics, createDispatch, type Dispatch } from "./dispatch.ts";
import type { FindUnready } from "./probes.ts";
import { traitsOf } from "./method-table.ts";
import { composeGuards } from "./guard-chain.ts";

/** Answers requests, whatever carries them: HTTP/1.1 and both HTTP/2 servers call it. */
export interface Application {
  readonly dispatch: Dispatch;
  readonly hotMethods: readonly HotMethod[];
  /** The other origins whose pages may call. The dispatch has it, too. */
  readonly crossOrigin: CrossOrigin;
  /** The hot methods ask it; the dispatch has it among its interceptors. Undefined: there is no guard. */
  readonly guard: CallGuard | undefined;
  /** Turns an error that a hot method threw into the one that its caller gets. */
  readonly toError: ToCallError;
  /** Aborted to end every call that still runs; its reason is a ConnectError. */
  readonly shutdownSignal: AbortSignal;
  /** See {@link ApplicationOptions.onTurn}. */
  readonly onTurn?: OnTurn | undefined;
}

/** Receives the time that a turn took, in milliseconds. Returns whether hot calls were answered in it, or before it. */
type OnTurn = (tookMs: number) => boolean;

/** The services of an application, the guards before them, and whatever else it answers. */
export interface ApplicationOptions {
  /** The services that are served, with their health and in reflection. No two have a method in common. */
  readonly services: readonly Service[];
  /** Asked for every call, in this order: the first that throws refuses it. */
  readonly guards: readonly CallGuard[];
  /** The origins whose pages may call, such as `https://example.org`; empty = none. */
  readonly corsOrigins: readonly string[];
  /** Gives the error that probes answer with; undefined while the server is ready. */
  readonly findUnready: FindUnready;
  /** Whether the page's files are served. */
  readonly page: "on" | "off";
  /** Answers `/metrics`; absent: there is no such path. */
  readonly answerMetrics?: AnswerMetrics | undefined;
  /** Called with the time that some turns took. Absent: no turn is timed. */
  readonly onTurn?: OnTurn | undefined;
  /** Aborted when the server begins to stop: health says NOT_SERVING, and calls that watch it end. */
  readonly drainSignal: AbortSignal;
  /** Aborted to end every call that still runs. The reason of both signals is a ConnectError. */
  readonly shutdownSignal: AbortSignal;
  /** Called with a fault of ours in a call of this method: an error that neither the caller nor the store caused. */
  readonly onUnforeseen: (error: unknown, method: string) => string;
}

/** Makes an application of services: their routes, with health, reflection and guards, and their hot methods. */
export function createApplication(options: ApplicationOptions): Application {
  const { guards, corsOrigins, findUnready, page, answerMetrics, onTurn } = options;
  const { drainSignal, shutdownSignal, onUnforeseen } = options;
  const services = [...options.services, createHealth(createHealthBoard(options.services, drainSignal))];
  const toError: ToCallError = (error, path) => toConnectError(error, (cause) => onUnforeseen(cause, path.slice(1)));
  const crossOrigin = new CrossOrigin(corsOrigins);
  const guard = composeGuards(guards);
  const dispatch = createDispatch({
    routes: createRoutes(services),
    interceptors: [...(guard === undefined ? [] : [guardInterceptor(guard, toError)]), errorInterceptor(toError)],
    shutdownSignal,
    crossOrigin,
    findUnready,
    page,
    answerMetrics,
    onArrival: guard?.arrive && ((caller, path) => arriveAt(guard, caller, (error) => toError(error, path))),
    onRefusedUnread:
      guard?.unread &&
      ((path, error, caller) => guard.unread?.(path === undefined ? path : traitsOf(path), error, caller)),
  });
  const hotMethods = services.flatMap((service) => service.hotMethods);
  return { dispatch, hotMethods, crossOrigin, guard, toError, shutdownSignal, onTurn };
}

/** Registers the services of a server, with reflection over them. */
function createRoutes(services: readonly Service[]): (router: ConnectRouter) => void {
  const all = [...services, ...createReflection(services)];
  return (router) => {
    for (const { descriptor, implementation } of all) router.service(descriptor, implementation);
  };
}

/** Asks a guard before a request is read. @throws ConnectError, which the caller then gets. */
function arriveAt(guard: CallGuard, caller: Caller, toError: (error: unknown) => Error): void {
  try {
    guard.arrive?.(caller);
  } catch (error) {
    throw toError(error);
  }
}
