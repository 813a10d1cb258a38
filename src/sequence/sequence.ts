/** The definition of a sequence, the checks of its fields, and the arithmetic from a counter to a value. */
import { createHash } from "node:crypto";
import { IdError } from "../errors.ts";
import { checkTimeZone, checkYearStart, type PeriodRules } from "./period.ts";
import { checkTemplate } from "./value-template.ts";

/** How values are taken from the database: by segments, or by one take for the callers that wait. */
export type Allocation = "segments" | "strict";

/** The definition of a sequence, with every default filled in. */
export interface SequenceDefinition extends PeriodRules {
  /** Must match {@link sequenceNamePattern}. */
  readonly name: string;
  /** 0 to 200 characters. */
  readonly description: string;
  /** 1 to 2^63 - 1. */
  readonly startValue: bigint;
  /** 1 to 2^31. */
  readonly increment: bigint;
  /** startValue to 2^63 - 1. */
  readonly valueMax: bigint;
  /** How values are taken from the database; it never changes. */
  readonly allocation: Allocation;
  /** 1 to 2^30; 0 where the allocation is strict. */
  readonly stepMin: number;
  /** stepMin to 2^30; 0 where the allocation is strict. */
  readonly stepMax: number;
  /** How long after its end a period gives values to callers that name a time in it: 0 to 400 days. */
  readonly lateMaxMs: number;
  /** 0 to 100 characters. */
  readonly textTemplate: string;
  /** Whether values are refused: true stops the sequence until an update says false. */
  readonly disabled: boolean;
}

/** A definition as its caller gives it: 0, an empty text and an absent field mean the default. */
export interface SequenceDraft extends Partial<SequenceDefinition> {
  readonly name: string;
}

/** A sequence as a database has it. */
export interface StoredSequence {
  readonly definition: SequenceDefinition;
  /** 32 hex digits, drawn at its creation. */
  readonly sequenceId: string;
  /** Unix milliseconds. */
  readonly createdMs: number;
  readonly updatedMs: number;
  /** The epoch of the database when values of this sequence were last forbidden or left out; 0 if they never were. */
  readonly epoch: number;
  /** Counters of periods before this key are pruned, and never begin again; empty if none are. */
  readonly closedBefore: string;
  /** How many periods have a counter: with fewer of them one was lost. */
  readonly begunCount: number;
  /** The revision of the database when this was read: epochs under another revision may belong to another history. */
  readonly revision: number;
}

/**
 * Compares a definition that was read with the known one. `older`: it is older than the known one. `changed`: values
 * were forbidden or left out since, so values that were taken under the known one are dropped.
 */
export function compareEpochs(known: StoredSequence, read: StoredSequence): "older" | "same" | "changed" {
  if (read.revision < known.revision) return "older";
  if (read.epoch === known.epoch) return "same";
  return read.revision === known.revision && read.epoch < known.epoch ? "older" : "changed";
}

/**
 * The share of one database in the values of every sequence: counting the values from 0, every `count`-th one, starting
 * at `index`. So two databases of one deployment never have a value in common.
 */
export interface Stripe {
  /** 0 to `count` - 1. */
  readonly index: number;
  /** 1 to 64; fixed when the first database was created. */
  readonly count: number;
}

/** The stripe of a database that has all values. */
export const onlyStripe: Stripe = { index: 0, count: 1 };

/** 1 to 63 lower-case letters, digits, dots, underscores and hyphens, with a letter or digit at both ends. */
export const sequenceNamePattern = /^[a-z0-9](?:[a-z0-9._-]{0,61}[a-z0-9])?$/;

/** The largest value: what an int64 holds. */
export const valueMaxMax = 2n ** 63n - 1n;
const incrementMax = 2n ** 31n;
/** The largest segment. */
export const stepMaxMax = 2 ** 30;
const stepMinDefault = 100;
const stepMaxDefault = 1_000_000;
const descriptionLengthMax = 200;
const lateMaxMaxMs = 400 * 86_400_000;

/** The fields of a definition that {@link changeDefinition} changes. */
const changeableFields = ["description", "valueMax", "stepMin", "stepMax", "disabled", "lateMaxMs"] as const;

/** The changes of an update. */
export type SequenceChange = Partial<Pick<SequenceDefinition, (typeof changeableFields)[number]>>;

/** Makes the error of one field, whose name is in the metadata under `field`. */
export function fieldError(field: string, message: string, metadata: Readonly<Record<string, string | bigint>> = {}) {
  return new IdError("INVALID_SEQUENCE", message, { metadata: { field, ...metadata } });
}

/** Checks a name. @throws IdError INVALID_SEQUENCE. */
export function checkSequenceName(name: string): void {
  if (sequenceNamePattern.test(name)) return;
  const message =
    "A sequence's name is 1 to 63 of a-z, 0-9, dot, underscore and hyphen, with a letter or digit at both ends.";
  throw fieldError("name", message);
}

/** Fills in the defaults, and checks every field. @throws IdError INVALID_SEQUENCE; its metadata names the field. */
export function completeDefinition(draft: SequenceDraft): SequenceDefinition {
  const { name, description = "", textTemplate = "", allocation = "segments" } = draft;
  const startValue = draft.startValue || 1n;
  const increment = draft.increment || 1n;
  const valueMax = draft.valueMax || valueMaxMax;
  checkSequenceName(name);
  checkDescription(description);
  checkRange("start_value", startValue, 1n, valueMaxMax);
  checkRange("increment", increment, 1n, incrementMax);
  checkRange("value_max", valueMax, startValue, valueMaxMax);
  const steps = completeSteps(allocation, draft.stepMin ?? 0, draft.stepMax ?? 0);
  const { period, yearStart } = checkYearStart(draft.period ?? "none", draft.yearStart ?? "");
  const timeZone = checkTimeZone(period, draft.timeZone ?? "");
  checkTemplate(textTemplate, period);
  const lateMaxMs = draft.lateMaxMs ?? 0;
  if (!(lateMaxMs >= 0 && lateMaxMs <= (period === "none" ? 0 : lateMaxMaxMs))) {
    throw fieldError("late_max", "late_max is from 0 to 400 days, and only for a sequence with a period.");
  }
  const disabled = draft.disabled ?? false;
  return {
    name,
    description,
    startValue,
    increment,
    valueMax,
    allocation,
    ...steps,
    period,
    timeZone,
    yearStart,
    lateMaxMs,
    textTemplate,
    disabled,
  };
}

/**
 * Applies an update to a definition, and checks the outcome.
 *
 * @throws IdError INVALID_SEQUENCE; its metadata names the field.
 */
export function changeDefinition(definition: SequenceDefinition, change: SequenceChange): SequenceDefinition {
  const valueMax = change.valueMax === 0n ? valueMaxMax : (change.valueMax ?? definition.valueMax);
  if (valueMax < definition.valueMax) {
    const message = `value_max can only be raised: it is ${definition.valueMax}.`;
    throw fieldError("value_max", message, { value_max: valueMax, value_max_now: definition.valueMax });
  }
  return completeDefinition({ ...definition, ...change, valueMax });
}

/** Whether two definitions are equal in every field. */
export function equalDefinitions(one: SequenceDefinition, other: SequenceDefinition): boolean {
  return etagOf(one) === etagOf(other);
}

/** The etag of a definition's state: 16 hex digits. */
export function etagOf(definition: SequenceDefinition): string {
  const fields = Object.entries(definition).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const text = JSON.stringify(fields.map(([field, value]) => [field, String(value)]));
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** How many values a stripe has in a period of the sequence. */
export function endCountOf(
  { startValue, increment, valueMax }: SequenceDefinition,
  { index, count }: Stripe = onlyStripe,
): bigint {
  const left = (valueMax - startValue) / increment + 1n - BigInt(index);
  return left <= 0n ? 0n : (left + BigInt(count) - 1n) / BigInt(count);
}

/** The value at an index of a stripe, counted from 0. */
export function valueAt(
  { startValue, increment }: SequenceDefinition,
  index: bigint,
  stripe: Stripe = onlyStripe,
): bigint {
  return startValue + (index * BigInt(stripe.count) + BigInt(stripe.index)) * increment;
}

/** The lowest index of a stripe whose value is at least `value`. */
export function indexFrom(
  { startValue, increment }: SequenceDefinition,
  value: bigint,
  { index, count }: Stripe = onlyStripe,
): bigint {
  const inAll = value <= startValue ? 0n : (value - startValue + increment - 1n) / increment;
  const above = inAll - BigInt(index);
  return above <= 0n ? 0n : (above + BigInt(count) - 1n) / BigInt(count);
}

function completeSteps(allocation: Allocation, stepMin: number, stepMax: number) {
  if (allocation === "strict") {
    for (const [field, step] of [
      ["step_min", stepMin],
      ["step_max", stepMax],
    ] as const) {
      if (step !== 0) throw fieldError(field, `A strict sequence has no ${field}: it takes what callers wait for.`);
    }
    return { stepMin, stepMax };
  }
  const least = stepMin === 0 ? stepMinDefault : stepMin;
  const most = stepMax === 0 ? Math.max(stepMaxDefault, least) : stepMax;
  checkRange("step_min", BigInt(least), 1n, BigInt(stepMaxMax));
  checkRange("step_max", BigInt(most), BigInt(least), BigInt(stepMaxMax));
  return { stepMin: least, stepMax: most };
}

function checkDescription(description: string): void {
  // Unicode's control characters could garble a list on a terminal.
  const isText = description.isWellFormed() && !/\p{Cc}/u.test(description);
  if (description.length <= descriptionLengthMax && isText) return;
  throw fieldError(
    "description",
    `A description has 0 to ${descriptionLengthMax} characters, without control characters.`,
  );
}

function checkRange(field: string, value: bigint, min: bigint, max: bigint): void {
  if (value >= min && value <= max) return;
  const message = `${field} is ${value}; it must be from ${min} to ${max}.`;
  throw fieldError(field, message, { [field]: value, [`${field}_min`]: min, [`${field}_max`]: max });
}
