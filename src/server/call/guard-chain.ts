import type { ConnectError } from "@connectrpc/connect";
import type { Caller, CallGuard, GuardedCall } from "./call-guard.ts";

/** How many guards a {@link GuardChain} has members for. */
const guardsMax = 5;

/**
 * Makes one guard of several, which are asked in order. Where one refuses a call, `endAfterRefusal` calls `end` of
 * those before it.
 *
 * @param guards - At most {@link guardsMax}.
 * @returns undefined where the list is empty: then no guard is asked.
 */
export function composeGuards(guards: readonly CallGuard[]): CallGuard | undefined {
  const [first, ...others] = guards;
  return first === undefined || others.length === 0 ? first : new GuardChain(first, others);
}

/**
 * Each guard has its own member and its own call sites: V8 then sees one guard at each of them, and inlines its code.
 * In a list, or in nested pairs, each method would be looked up for every call. docs/adr/0175 has the figures.
 */
class GuardChain implements CallGuard {
  readonly #first: CallGuard;
  readonly #second: CallGuard | undefined;
  readonly #third: CallGuard | undefined;
  readonly #fourth: CallGuard | undefined;
  readonly #fifth: CallGuard | undefined;
  /** The guards that let the last call begin. */
  #passedCount = 0;

  constructor(first: CallGuard, others: readonly CallGuard[]) {
    if (others.length >= guardsMax) throw new Error("A guard has no place in the chain");
    this.#first = first;
    [this.#second, this.#third, this.#fourth, this.#fifth] = others;
  }

  begin(call: GuardedCall): void {
    this.#passedCount = 0;
    this.#first.begin(call);
    this.#passedCount = 1;
    this.#second?.begin(call);
    this.#passedCount = 2;
    this.#third?.begin(call);
    this.#passedCount = 3;
    this.#fourth?.begin(call);
    this.#passedCount = 4;
    this.#fifth?.begin(call);
  }

  endAfterRefusal(call: GuardedCall, error: ConnectError): void {
    this.#endFirst(this.#passedCount, call, error);
  }

  goOn(call: GuardedCall): void {
    for (const guard of this.#all) guard.goOn?.(call);
  }

  end(call: GuardedCall, error: ConnectError | undefined): void {
    this.#endFirst(guardsMax, call, error);
  }

  #endFirst(count: number, call: GuardedCall, error: ConnectError | undefined): void {
    if (count > 0) this.#first.end?.(call, error);
    if (count > 1) this.#second?.end?.(call, error);
    if (count > 2) this.#third?.end?.(call, error);
    if (count > 3) this.#fourth?.end?.(call, error);
    if (count > 4) this.#fifth?.end?.(call, error);
  }

  unread(...told: Parameters<NonNullable<CallGuard["unread"]>>): void {
    for (const guard of this.#all) guard.unread?.(...told);
  }

  arrive(caller: Caller): void {
    for (const guard of this.#all) guard.arrive?.(caller);
  }

  get #all(): readonly CallGuard[] {
    const guards = [this.#first, this.#second, this.#third, this.#fourth, this.#fifth];
    return guards.filter((guard) => guard !== undefined);
  }
}
