import type { HotMethod } from "../hot-methods.ts";
import type { CallGuard, ToCallError } from "./call-guard.ts";
import type { Dispatch } from "./dispatch.ts";

/** What a server serves, whatever carries it. */
export interface Application {
  readonly dispatch: Dispatch;
  readonly hotMethods: readonly HotMethod[];
  /** Asked by the hot methods; the dispatch has them among its interceptors. */
  readonly guards: readonly CallGuard[];
  /** Makes of what a hot method threw what its caller gets. */
  readonly toError: ToCallError;
  /** Aborted to end every call that still runs; its reason is a ConnectError. */
  readonly shutdownSignal: AbortSignal;
}
