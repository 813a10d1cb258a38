/** Values of sequences within their callers' deadlines: what issue-ids.ts is for IDs. */
import type { Clock } from "../../clock/clock.ts";
import type { Sequences } from "../../sequence/sequences.ts";
import { callerError } from "../../sequence/sequence-error.ts";
import type { ReservedValues, ReserveValues, ValueSource } from "../../sequence/value-source.ts";
import { reserveCountMax } from "../../snowflake/generator.ts";
import { type CallContext, checkCount, deadlineOf, Draw, whenQuotaAllows, withinQuota } from "./issue-ids.ts";

/** The source of values, and how many a call may ask for. */
export interface ValueOptions {
  /** The sequences, whose database is opened with the first call. */
  readonly sequences: Sequences;
  readonly clock: Clock;
  /** The most that one BatchNextValues call may ask for, at least 1. */
  readonly batchCountMax: number;
  /** The database that counts the values, as in NextValueResponse; 0 before one was opened. */
  readonly databaseNow: () => number;
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

type Drawn = ReservedValues | Promise<ReservedValues>;

/** Draws the one value of a call, which its quota has paid for already. @throws As {@link drawValues}. */
export function drawOneValue(options: ValueOptions, source: ValueSource, context: CallContext): Drawn {
  return drawValues(options, source, { count: 1, priority: "unary" }, context);
}

/**
 * Draws up to `count` values for a reservation, and fewer if the caller's quota is nearly used up.
 *
 * @throws As {@link drawValues}; IdError QUOTA_EXCEEDED.
 */
export function drawValueReservation(
  options: ValueOptions,
  source: ValueSource,
  count: number,
  context: CallContext,
): Drawn {
  const drawn = (taken: number): Drawn => drawValues(options, source, { count: taken, priority: "bulk" }, context);
  return withinQuota(context, count, drawn);
}

/** Draws up to `count` values for a stream, as soon as the caller's quota has some. @throws As {@link drawValues}. */
export function drawValueChunk(options: ValueOptions, source: ValueSource, count: number, context: CallContext): Drawn {
  const drawn = (taken: number): Drawn => drawValues(options, source, { count: taken, priority: "bulk" }, context);
  return whenQuotaAllows(context, count, drawn);
}

/**
 * Hands out 1 to `count` values of a sequence: at once and without a promise if there are any, otherwise with one.
 *
 * @throws As {@link ValueSource.reserve}, also as rejection; the reason of the caller's signal when that ends the wait.
 */
function drawValues(
  options: ValueOptions,
  source: ValueSource,
  wanted: Pick<ReserveValues, "count" | "priority">,
  context: CallContext,
): Drawn {
  // The source may have been dropped from memory since it was found.
  if (source.isClosed) return drawAgain(options, source.stored.definition.name, wanted, context);
  let drawn: Drawn;
  try {
    drawn = source.reserve(new Draw(options.clock, wanted, context));
  } catch (error) {
    throw callerError(error);
  }
  if (!(drawn instanceof Promise)) return drawn;
  const waited = drawn;
  return withCause(context, () => waited);
}

async function drawAgain(
  options: ValueOptions,
  name: string,
  wanted: Pick<ReserveValues, "count" | "priority">,
  context: CallContext,
): Promise<ReservedValues> {
  const source = await findSource(options, name, context);
  return withCause(context, async () => source.reserve(new Draw(options.clock, wanted, context)));
}

/** @throws RequestError COUNT_OUT_OF_RANGE. */
export function checkReserveValues(count: number): void {
  checkCount("count", count, reserveCountMax);
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
