import type { ConnectError } from "@connectrpc/connect";
import type { HotMethod } from "../hot-methods.ts";
import type { Dispatch } from "./dispatch.ts";

/** What a server serves, whatever carries it. */
export interface Application {
  readonly dispatch: Dispatch;
  readonly hotMethods: readonly HotMethod[];
  /** Makes of what a hot method threw what its caller gets. */
  readonly toError: (error: unknown, path: string) => ConnectError;
  /** Aborted to end every call that still runs; its reason is a ConnectError. */
  readonly shutdownSignal: AbortSignal;
}
