import { createContextKey, type HandlerContext } from "@connectrpc/connect";
import type { Allowance } from "../queue/allowance.ts";
import type { CallContext } from "./hot/issue-ids.ts";

/** The key under which the guards store the rest of the caller's quota. */
export const allowanceKey = createContextKey<Allowance | undefined>(undefined, { description: "allowance" });

/**
 * The limits of a call that goes through Connect's handlers.
 *
 * @throws The reason of the caller's signal, if it has gone: then nothing may be handed out.
 */
export function liveContext(context: HandlerContext): CallContext {
  const { signal, values } = context;
  if (signal.aborted) throw signal.reason;
  return { signal, timeoutMs: () => context.timeoutMs(), allowance: values.get(allowanceKey) };
}
