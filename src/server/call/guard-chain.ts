import type { ToCallError } from "../../service/connect-error.ts";
import type { Caller, CallGuard, GuardedCall } from "./call-guard.ts";

/** How many guards a {@link GuardChain} has members for. */
const guardsMax = 5;

/**
 * Makes one guard of several, which are asked in order. Where one refuses a call, `end` is called on those before it.
 *
 * @param guards - At most {@link guardsMax}.
 * @returns undefined where the list is empty: then no guard is asked.
 */
export function composeGuards(guards: readonly CallGuard[], toError: ToCallError): CallGuard | undefined {
  const [first, ...others] = guards;
  return first === undefined || others.length === 0 ? first : new GuardChain(first, others, toError);
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
  readonly #toError: ToCallError;

  constructor(first: CallGuard, others: readonly CallGuard[], toError: ToCallError) {
    if (others.length >= guardsMax) throw new Error("A guard has no place in the chain");
    this.#first = first;
    [this.#second, this.#third, this.#fourth, this.#fifth] = others;
    this.#toError = toError;
  }

  begin(call: GuardedCall): void {
    let passedCount = 0;
    try {
      this.#first.begin(call);
      passedCount = 1;
      this.#second?.begin(call);
      passedCount = 2;
      this.#third?.begin(call);
      passedCount = 3;
      this.#fourth?.begin(call);
      passedCount = 4;
      this.#fifth?.begin(call);
    } catch (thrown) {
      const error = this.#toError(thrown, call.traits.path);
      for (const guard of this.#all.slice(0, passedCount)) guard.end?.(call, error);
      throw error;
    }
  }

  goOn(call: GuardedCall): void {
    for (const guard of this.#all) guard.goOn?.(call);
  }

  end(call: GuardedCall, error: Parameters<NonNullable<CallGuard["end"]>>[1]): void {
    this.#first.end?.(call, error);
    this.#second?.end?.(call, error);
    this.#third?.end?.(call, error);
    this.#fourth?.end?.(call, error);
    this.#fifth?.end?.(call, error);
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
