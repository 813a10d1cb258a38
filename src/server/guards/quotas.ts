import type { Allowance } from "../../queue/allowance.ts";
import type { CallGuard, GuardedCall } from "../call/call-guard.ts";

/**
 * Holds principals to their quotas of calls and of streams, and to that of IDs where a call hands out one. The others
 * take theirs when they draw: src/service/hot/issue-ids.ts. Stands after authentication, which finds the principal.
 * docs/adr/0136 has the reasons.
 */
export class Quotas implements CallGuard {
  /** The streams that are open. */
  readonly #streams = new WeakMap<GuardedCall, Allowance>();

  /** @throws IdError QUOTA_EXCEEDED. */
  begin(call: GuardedCall): void {
    const allowance = call.notes.principal?.allowance;
    if (allowance === undefined) return;
    const { handsOutOne, streams } = call.traits;
    allowance.takeCall();
    if (handsOutOne) allowance.takeId();
    if (!streams) return;
    allowance.openStream();
    this.#streams.set(call, allowance);
  }

  end(call: GuardedCall, error: Error | undefined): void {
    const { handsOutOne, streams } = call.traits;
    if (handsOutOne && error === undefined) call.notes.principal?.allowance.noteIds(1);
    if (!streams) return;
    this.#streams.get(call)?.closeStream();
    this.#streams.delete(call);
  }
}
