/** The state of sequences: read from every database, and combined. */
import { createPeriodClock } from "./period.ts";
import { counterId, keysMax, keysOf } from "./sequence-store.ts";
import { endCountOf, etagOf, fieldError, type StoredSequence, type Stripe, valueAt } from "./sequence.ts";
import type { StripePart } from "./stripe-set.ts";

/** A sequence, and the state of its counter in the present period. */
export interface SequenceState {
  readonly stored: StoredSequence;
  readonly etag: string;
  readonly periodKey: string;
  /** The lowest value that was never taken; undefined if none is left. */
  readonly nextValue: bigint | undefined;
  readonly leftCount: bigint;
  /** Whether a database lost its counter. A missing counter is a loss of data; it does not mean 0. */
  readonly isLost: boolean;
}

/** The state of several sequences. */
export interface SequenceStates {
  readonly states: readonly SequenceState[];
  /** Why one of the databases is stopped; undefined if none is. */
  readonly stopReason: string | undefined;
}

/** Reads the state of sequences from all databases, without changing anything. */
export async function readStates(
  parts: readonly StripePart[],
  all: readonly StoredSequence[],
  nowMs: number,
): Promise<SequenceStates> {
  const keyed = all.map((stored) => {
    const { name } = stored.definition;
    return { stored, name, periodKey: createPeriodClock(stored.definition)(nowMs).key };
  });
  const states: SequenceState[] = [];
  let stopReason: string | undefined;
  // Looks even if there are no sequences, because the database may be stopped.
  for (let at = 0; at === 0 || at < keyed.length; at += keysMax / 2) {
    const page = keyed.slice(at, at + keysMax / 2);
    const looks = await Promise.all(
      parts.map(async ({ stripe, store }) => ({ stripe, ...(await store.look(page.flatMap(keysOf))) })),
    );
    states.push(...page.map(({ stored, periodKey }) => stateOf(stored, periodKey, looks)));
    stopReason ??= looks.map(({ database }) => database?.stopped ?? "").find((stopped) => stopped !== "");
  }
  return { states, stopReason };
}

/** Checks the value to which a sequence is to be raised. @throws IdError INVALID_SEQUENCE. */
export function checkNextValue({ stored, nextValue, isLost }: SequenceState, wanted: bigint): void {
  const { startValue, valueMax } = stored.definition;
  const least = nextValue ?? (isLost ? startValue : valueMax + 1n);
  if (wanted >= least && wanted >= startValue && wanted <= valueMax) return;
  const message = `next_value is ${wanted}; it can only go upward, from ${least} to ${valueMax}.`;
  throw fieldError("next_value", message, { next_value: wanted, next_value_min: least, next_value_max: valueMax });
}

interface StripeLook {
  readonly stripe: Stripe;
  readonly sequences: ReadonlyMap<string, StoredSequence>;
  readonly counters: ReadonlyMap<string, bigint>;
}

function stateOf(stored: StoredSequence, periodKey: string, looks: readonly StripeLook[]): SequenceState {
  const { definition } = stored;
  const { name } = definition;
  let [nextValue, leftCount, isLost] = [undefined as bigint | undefined, 0n, false];
  for (const { stripe, sequences, counters } of looks) {
    // A sequence whose creation did not reach this database was not lost.
    if (stripe.count > 1 && !sequences.has(name)) continue;
    if (!counters.has(counterId({ name, periodKey: "" }))) {
      isLost = true;
      continue;
    }
    // A period of which no value was taken yet has no counter.
    const usedCount = counters.get(counterId({ name, periodKey })) ?? 0n;
    const endCount = endCountOf(definition, stripe);
    if (usedCount >= endCount) continue;
    leftCount += endCount - usedCount;
    const next = valueAt(definition, usedCount, stripe);
    if (nextValue === undefined || next < nextValue) nextValue = next;
  }
  return { stored, etag: etagOf(definition), periodKey, nextValue, leftCount, isLost };
}
