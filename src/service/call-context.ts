import { createContextKey, type HandlerContext } from "@connectrpc/connect";
import type { Allowance } from "../queue/allowance.ts";
import type { CallContext } from "./hot/issue-ids.ts";

/** Where the guards put what the caller of a method may still take of its quota. */
export const allowanceKey = createContextKey<Allowance | undefined>(undefined, { description: "allowance" });

/**
 * The limits of a call that goes through Connect's handlers.
 *
 * @throws The reason of the caller's signal, if it has gone: nothing is handed out to nobody.
 */
export function liveContext(context: HandlerContext): CallContext {
  const { signal, values } = context;
  if (signal.aborted) throw signal.reason;
  return { signal, timeoutMs: () => context.timeoutMs(), allowance: values.get(allowanceKey) };
}
