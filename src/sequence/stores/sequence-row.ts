/** A row of the table snowlane_sequence, whose columns have the same names in all databases. */
import type { Look, NewSequence, Replacement, ServerRow } from "../sequence-store.ts";
import { type SequenceDefinition, type StoredSequence, valueMaxMax } from "../sequence.ts";

/** A row as a driver reads it; a number may come as any of these. */
export interface SequenceRow {
  readonly name: string;
  readonly start_value: bigint | number | string;
  readonly increment: bigint | number | string;
  readonly value_max: bigint | number | string;
  readonly allocation: string;
  readonly step_min: bigint | number | string;
  readonly step_max: bigint | number | string;
  readonly period: string;
  readonly time_zone: string;
  readonly text_template: string;
  readonly description: string;
  readonly disabled: bigint | number | boolean;
  readonly created_ms: bigint | number | string;
  readonly updated_ms: bigint | number | string;
  readonly sequence_id: string;
  readonly epoch: bigint | number | string;
  readonly closed_before: string;
  readonly begun_count: bigint | number | string;
  readonly year_start: string;
  readonly late_max_ms: bigint | number | string;
}

/** Reads the state of the database from a row. */
export function databaseOf(row: Readonly<Record<string, unknown>>): NonNullable<Look["database"]> {
  return {
    identity: String(row["identity"]),
    stopped: String(row["stopped"]),
    revision: Number(row["revision"]),
    openMs: Number(row["open_ms"]),
    epoch: Number(row["database_epoch"]),
    emptiedRevision: Number(row["emptied_revision"]),
    move: String(row["move_state"]),
    raisedCount: BigInt(row["raised_count"] as bigint | number | string),
    raisedUntilMs: Number(row["raised_until_ms"]),
    member: {
      storeId: String(row["store_id"]),
      index: Number(row["stripe_index"]),
      count: Number(row["stripe_count"]),
      members: String(row["members"]),
    },
  };
}

/** The revision of a sequence that was read without the row of the database. */
export const neverRead = -1;

/** Reads the row of a process. */
export function serverOf(row: Readonly<Record<string, unknown>>): ServerRow {
  return {
    processId: String(row["process_id"]),
    server: String(row["server"]),
    seenMs: Number(row["seen_ms"]),
    epoch: Number(row["epoch"]),
  };
}

/** The columns of the table `p` that {@link databaseOf} reads. */
export const databaseColumns =
  "p.identity, p.stopped, p.revision, p.open_ms, p.epoch AS database_epoch, p.emptied_revision, p.store_id, " +
  "p.stripe_index, p.stripe_count, p.members, p.move_state, p.raised_count, p.raised_until_ms";

/** The columns of a new row, except the namespace, in the order of the values of {@link valuesOf}. */
export const newColumns =
  "name, start_value, increment, value_max, allocation, step_min, step_max, period, time_zone, text_template, " +
  "description, disabled, created_ms, updated_ms, sequence_id, year_start, late_max_ms";

/** The columns that {@link storedOf} reads. */
export const definitionColumns = `${newColumns}, epoch, closed_before, begun_count`;

/** Reads a row. @param revision - The revision of the database when the row was read. */
export function storedOf(row: SequenceRow, revision: number): StoredSequence {
  const definition: SequenceDefinition = {
    name: row.name,
    description: row.description,
    startValue: sharedNumber(row.start_value),
    increment: sharedNumber(row.increment),
    valueMax: sharedNumber(row.value_max),
    allocation: row.allocation === "strict" ? "strict" : "segments",
    stepMin: Number(row.step_min),
    stepMax: Number(row.step_max),
    period: row.period as SequenceDefinition["period"],
    timeZone: row.time_zone,
    yearStart: row.year_start,
    lateMaxMs: Number(row.late_max_ms),
    textTemplate: row.text_template,
    disabled: Number(row.disabled) === 1,
  };
  const [createdMs, updatedMs] = [Number(row.created_ms), Number(row.updated_ms)];
  const { sequence_id: sequenceId, closed_before: closedBefore } = row;
  const [epoch, begunCount] = [Number(row.epoch), Number(row.begun_count)];
  return { definition, sequenceId, createdMs, updatedMs, epoch, closedBefore, begunCount, revision };
}

/** Numbers that most rows have, kept once for all sequences in memory. */
const commonNumbers = [1n, valueMaxMax];

function sharedNumber(column: bigint | number | string): bigint {
  const read = BigInt(column);
  return commonNumbers.find((common) => common === read) ?? read;
}

/** The values of a row by their names in code, `disabled` as 0 or 1. */
export function valuesOf({ definition, sequenceId, createdMs, updatedMs }: NewSequence["stored"]) {
  const { disabled, ...rest } = definition;
  const { name, startValue, increment, valueMax, allocation, stepMin, stepMax, period } = rest;
  const { timeZone, textTemplate, description, yearStart, lateMaxMs } = rest;
  return {
    name,
    startValue,
    increment,
    valueMax,
    allocation,
    stepMin,
    stepMax,
    period,
    timeZone,
    textTemplate,
    description,
    disabled: disabled ? 1 : 0,
    createdMs,
    updatedMs,
    sequenceId,
    yearStart,
    lateMaxMs,
  };
}

/** The values of an update by compare-and-set. */
export function replacementValues({ sequenceId, before, after, updatedMs }: Replacement) {
  return {
    sequenceId,
    updatedMs,
    description: after.description,
    valueMax: after.valueMax,
    stepMin: after.stepMin,
    stepMax: after.stepMax,
    disabled: after.disabled ? 1 : 0,
    lateMaxMs: after.lateMaxMs,
    lateMaxMsBefore: before.lateMaxMs,
    descriptionBefore: before.description,
    valueMaxBefore: before.valueMax,
    stepMinBefore: before.stepMin,
    stepMaxBefore: before.stepMax,
    disabledBefore: before.disabled ? 1 : 0,
  };
}
