/** Values of sequences within their callers' deadlines: what hot/issue-ids.ts is for IDs. */
import type { Clock } from "../clock/clock.ts";
import type { Sequences } from "../sequence/sequences.ts";
import { callerError } from "../sequence/sequence-error.ts";
import type { ReservedValues, ReserveValues, ValueSource } from "../sequence/value-source.ts";
import { reserveCountMax } from "../snowflake/generator.ts";
import { type CallContext, checkCount, deadlineOf } from "./hot/issue-ids.ts";

/** The parts that hand out values. */
export interface ValueOptions {
  readonly sequences: Sequences;
  readonly clock: Clock;
  /** The most that one BatchNextValues call may ask for. */
  readonly batchCountMax: number;
}

/** Finds the sequence of a call. @throws As {@link Sequences.open}. */
export async function findSource(
  { sequences, clock }: ValueOptions,
  name: string,
  context: CallContext,
): Promise<ValueSource> {
  if (context.signal.aborted) throw context.signal.reason;
  const found = sequences.find(name);
  if (found !== undefined) return found;
  const { signal } = context;
  return withCause(context, async () => sequences.open(name, { deadlineMs: deadlineOf(clock, context), signal }));
}

/**
 * Hands out 1 to `count` values of a sequence.
 *
 * @throws As {@link ValueSource.reserve}; the reason of the caller's signal when that ends the wait.
 */
export async function drawValues(
  options: ValueOptions,
  source: ValueSource,
  { count, priority }: Pick<ReserveValues, "count" | "priority">,
  context: CallContext,
): Promise<ReservedValues> {
  if (context.signal.aborted) throw context.signal.reason;
  const { signal } = context;
  const request = { count, priority, signal, deadlineMs: deadlineOf(options.clock, context) };
  // It may have left memory since it was found.
  const inMemory = source.isClosed ? await findSource(options, source.stored.definition.name, context) : source;
  return withCause(context, async () => inMemory.reserve(request));
}

/** @throws RequestError COUNT_OUT_OF_RANGE. */
export function checkReserveValues(count: number): void {
  checkCount("count", BigInt(count), BigInt(reserveCountMax));
}

/** All values of some runs. */
export function valuesOf(runs: ReservedValues["runs"]): bigint[] {
  return runs.flatMap(({ firstValue, count, increment }) =>
    Array.from({ length: count }, (_, index) => firstValue + BigInt(index) * increment),
  );
}

async function withCause<T>({ signal }: CallContext, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw signal.aborted ? signal.reason : callerError(error);
  }
}
