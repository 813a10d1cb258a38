/** Takes over the counters of another program: for each of them a sequence is created, or raised, above its value. */
import { IdError } from "../errors.ts";
import type { SequenceServer } from "./seen-by-servers.ts";
import type { SequenceCatalog } from "./sequence-catalog.ts";
import type { SequenceState } from "./sequence-state.ts";
import { completeDefinition, fieldError, type SequenceDraft, stepMaxMax } from "./sequence.ts";

/** A counter of another program. */
export interface ImportedCounter {
  readonly name: string;
  /** The highest value that was handed out; 0 if none was. */
  readonly value: bigint;
  /** The smallest segment of the sequence; undefined = the default. */
  readonly step?: number | undefined;
  readonly description?: string | undefined;
}

/** The outcome for one counter. */
export interface ImportOutcome {
  readonly name: string;
  /** The next value of the sequence. */
  readonly nextValue: bigint;
  /** `above`: the sequence existed and was above the value already. */
  readonly done: "made" | "raised" | "above";
}

/** How counters are taken over. */
export interface ImportOptions {
  /** How many values are left out above each counter, for those that its program hands out meanwhile. */
  readonly margin: bigint;
  /** `plan` writes nothing. */
  readonly mode: "write" | "plan";
  /** Whether all of them give values afterwards. */
  readonly enables: boolean;
  /** A server that has not looked for this long counts as dead. */
  readonly deadAfterMs: number;
}

/** A sequence that is in use, or may be; nothing was written. */
export interface ImportBlocked {
  readonly kind: "blocked";
  readonly name: string;
  /** `enabled`: it gives values. Otherwise the first server that has not seen that it is disabled. */
  readonly why: "enabled" | SequenceServer;
}

/** The outcome of {@link importCounters}. */
export type ImportResult = ImportBlocked | { readonly kind: "done"; readonly outcomes: readonly ImportOutcome[] };

const textPattern = /^\d{1,19}$/;

/**
 * Reads the rows of a query. If `name` is given, each has a value; otherwise a name and a value, then optionally a step
 * and a description. A value that is NULL, as the maximum of an empty table is, counts as 0.
 *
 * @throws IdError INVALID_SEQUENCE; then nothing was done.
 */
export function readCounters(
  rows: readonly (readonly unknown[])[],
  name: string | undefined,
): readonly ImportedCounter[] {
  if (rows.length === 0) throw fieldError("sql", "The query gave no row.");
  const counters = rows.map((row, index) => counterOf(name === undefined ? row : [name, ...row], index + 1));
  const names = new Set<string>();
  for (const counter of counters) {
    if (names.has(counter.name)) {
      const message = `The query gave two rows for the sequence ${counter.name}. Take the highest, as with max() and GROUP BY.`;
      throw fieldError("sql", message, { name: counter.name });
    }
    names.add(counter.name);
  }
  return counters;
}

/**
 * Creates or raises a sequence for each counter. All of them are checked before the first is written. This may be
 * repeated, because a sequence is never lowered. An existing sequence must be disabled, and every server must have seen
 * that: otherwise servers would continue with values in memory that the other program has given.
 *
 * @throws IdError As {@link SequenceCatalog.create} and {@link SequenceCatalog.raise}.
 */
export async function importCounters(
  catalog: SequenceCatalog,
  counters: readonly ImportedCounter[],
  options: ImportOptions,
): Promise<ImportResult> {
  const drafts = counters.map((counter) => draftOf(counter, options.margin));
  for (const draft of drafts) completeDefinition(draft);
  const standing = new Map<string, SequenceState>();
  for (const { name } of drafts) {
    const state = await findState(catalog, name);
    if (state === undefined) continue;
    standing.set(name, state);
    if (!state.stored.definition.disabled) return { kind: "blocked", name, why: "enabled" };
    const [server] = await catalog.behind(name, options.deadAfterMs);
    if (server !== undefined) return { kind: "blocked", name, why: server };
  }
  const outcomes: ImportOutcome[] = [];
  for (const draft of drafts) outcomes.push(await importOne(catalog, draft, standing.get(draft.name), options));
  if (options.enables && options.mode === "write") {
    for (const { name } of drafts) await catalog.update({ name, change: { disabled: false } });
  }
  return { kind: "done", outcomes };
}

async function findState(catalog: SequenceCatalog, name: string): Promise<SequenceState | undefined> {
  return catalog.get(name).catch((error: unknown) => {
    if (!(error instanceof IdError)) throw error;
    // A plan does not create a database.
    if (error.reason === "SEQUENCE_NOT_FOUND" || error.metadata["kept"] === "nothing") return undefined;
    throw error;
  });
}

async function importOne(
  catalog: SequenceCatalog,
  draft: SequenceDraft & { readonly startValue: bigint },
  standing: SequenceState | undefined,
  { mode }: ImportOptions,
): Promise<ImportOutcome> {
  const { name, startValue } = draft;
  if (standing === undefined) {
    if (mode === "write") await catalog.create({ ...draft, disabled: true });
    return { name, nextValue: startValue, done: "made" };
  }
  if (standing.nextValue !== undefined && standing.nextValue >= startValue) {
    return { name, nextValue: standing.nextValue, done: "above" };
  }
  if (mode === "plan") return { name, nextValue: startValue, done: "raised" };
  await catalog.raise({ kind: "to", name, value: startValue });
  // The increment of an existing sequence may lead beyond the requested value.
  const raised = await catalog.get(name);
  return { name, nextValue: raised.nextValue ?? startValue, done: "raised" };
}

function draftOf({ name, value, step, description }: ImportedCounter, margin: bigint) {
  const startValue = value + 1n + margin;
  if (startValue >= 2n ** 63n) {
    throw fieldError("value", `No value is left above ${value} for the sequence ${name}.`, { name, value });
  }
  return {
    name,
    startValue,
    ...(step === undefined ? {} : { stepMin: step }),
    ...(description === undefined ? {} : { description }),
  };
}

function counterOf(row: readonly unknown[], index: number): ImportedCounter {
  if (row.length < 2 || row.length > 4) {
    const message = `Row ${index} has ${row.length} columns. Give name and value, then perhaps step and description; or one value, with --name.`;
    throw fieldError("sql", message, { row: BigInt(index) });
  }
  const [name, value, step, description] = row;
  const counter = {
    name: textOf(name) ?? "",
    value: wholeOf(value, "value", index) ?? 0n,
    step: stepOf(step, index),
    description: textOf(description),
  };
  // The first message about a name should say which row it is in.
  try {
    completeDefinition({ name: counter.name });
  } catch (error) {
    if (!(error instanceof IdError)) throw error;
    const message = `Row ${index} has the name ${JSON.stringify(counter.name)}. ${error.message} Give another one in the query, as with lower() or CASE.`;
    throw fieldError("name", message, { row: BigInt(index), name: counter.name });
  }
  return counter;
}

function stepOf(step: unknown, index: number): number | undefined {
  const whole = wholeOf(step, "step", index);
  return whole === undefined || whole === 0n ? undefined : Number(whole < stepMaxMax ? whole : BigInt(stepMaxMax));
}

function textOf(cell: unknown): string | undefined {
  if (cell === null || cell === undefined) return undefined;
  if (typeof cell === "string") return cell;
  if (typeof cell === "number" || typeof cell === "bigint" || Buffer.isBuffer(cell)) return cell.toString();
  // A date or an array is neither a name nor a number, so the check of its column refuses it.
  return JSON.stringify(cell);
}

function wholeOf(cell: unknown, column: string, index: number): bigint | undefined {
  const text = textOf(cell);
  if (text === undefined) return undefined;
  // A number that lost digits in floating point would begin a sequence too low.
  const isExact = typeof cell !== "number" || Number.isSafeInteger(cell);
  if (isExact && textPattern.test(text) && BigInt(text) < 2n ** 63n) return BigInt(text);
  const message = `Row ${index} has the ${column} ${JSON.stringify(text)}; it must be a whole number from 0 to 2^63 - 1.`;
  throw fieldError(column, message, { row: BigInt(index), [column]: text });
}
