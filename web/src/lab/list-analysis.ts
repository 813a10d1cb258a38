import type { TimeSpan } from "../state.ts";
import type { ListRow } from "./list-rows.ts";

/** The parts into which the timeline divides the time. */
export const binCount = 90;

/** The IDs of one worker over time. */
export interface WorkerLane {
  /** Undefined where the layout has no such field, and for IDs that name no worker. */
  readonly datacenterId: number | undefined;
  readonly workerId: number | undefined;
  readonly count: number;
  /** IDs in each of the {@link binCount} parts of the time. */
  readonly bins: readonly number[];
}

/** What a list of IDs says as a whole. */
export interface ListAnalysis {
  readonly idCount: number;
  readonly differentCount: number;
  readonly copyCount: number;
  /** Rows that are earlier than one before them, copies left out. */
  readonly breakCount: number;
  readonly breakMaxMs: number;
  /** The two below are undefined where no row has a time. */
  readonly span: TimeSpan | undefined;
  /** The second with the most IDs: Unix milliseconds of its beginning. */
  readonly peak: { readonly count: number; readonly atMs: number } | undefined;
  /** The longest time without an ID. */
  readonly gap: { readonly fromMs: number; readonly lengthMs: number };
  /** The busiest first. */
  readonly lanes: readonly WorkerLane[];
}

/** Takes a list of IDs together. The work grows with their count, and with its logarithm where times are sorted. */
export function analyse(rows: readonly ListRow[]): ListAnalysis {
  const ids = rows.filter(({ entry }) => entry.reading.kind === "read");
  const timed = ids.flatMap((row) => (row.timeMs === undefined ? [] : [row.timeMs]));
  const times = Float64Array.from(timed).toSorted();
  const copyCount = ids.filter(({ isCopy }) => isCopy).length;
  const breaks = ids.filter(({ breakMs }) => breakMs > 0);
  const span = times.length === 0 ? undefined : { firstMs: times[0]!, lastMs: times[times.length - 1]! };
  return {
    idCount: ids.length,
    differentCount: ids.length - copyCount,
    copyCount,
    breakCount: breaks.length,
    breakMaxMs: breaks.reduce((most, { breakMs }) => Math.max(most, breakMs), 0),
    span,
    peak: peakOf(times),
    gap: gapOf(times),
    lanes: span === undefined ? [] : lanesOf(ids, span),
  };
}

function peakOf(times: Float64Array): ListAnalysis["peak"] {
  let peak: ListAnalysis["peak"];
  for (let first = 0; first < times.length; ) {
    const atMs = Math.floor(times[first]! / 1_000) * 1_000;
    let next = first;
    while (next < times.length && times[next]! < atMs + 1_000) next++;
    if (peak === undefined || next - first > peak.count) peak = { count: next - first, atMs };
    first = next;
  }
  return peak;
}

function gapOf(times: Float64Array): ListAnalysis["gap"] {
  let gap = { fromMs: 0, lengthMs: 0 };
  for (let at = 1; at < times.length; at++) {
    const lengthMs = times[at]! - times[at - 1]!;
    if (lengthMs > gap.lengthMs) gap = { fromMs: times[at - 1]!, lengthMs };
  }
  return gap;
}

/** The part of the time in which a moment lies. */
export function binOf(timeMs: number, { firstMs, lastMs }: TimeSpan): number {
  // Multiplied first, so that the edges are exact.
  return Math.min(binCount - 1, Math.floor(((timeMs - firstMs) * binCount) / Math.max(lastMs - firstMs, 1)));
}

/** Tells the workers of a list apart. */
export function laneKey({ entry }: ListRow): string {
  const parsed = entry.reading.kind === "read" ? entry.reading.source.parsed : undefined;
  return `${parsed?.datacenterId ?? ""}/${parsed?.workerId ?? ""}`;
}

/** The parts of the timeline that a press shows larger. */
export const zoomCount = 10;

/**
 * The {@link zoomCount} parts of a span, in whole milliseconds, without a gap between them. Each holds as many of the
 * {@link binCount} parts. None where they would be shorter than two milliseconds.
 */
export function partsOf({ firstMs, lastMs }: TimeSpan): readonly TimeSpan[] {
  const lengthMs = lastMs - firstMs;
  if (lengthMs < 2 * zoomCount) return [];
  const startOf = (part: number): number => firstMs + Math.ceil((part * lengthMs) / zoomCount);
  return Array.from({ length: zoomCount }, (_, part) => ({
    firstMs: startOf(part),
    lastMs: part === zoomCount - 1 ? lastMs : startOf(part + 1) - 1,
  }));
}

/** Whether a row has a time within a span. */
export function isWithin({ timeMs }: ListRow, { firstMs, lastMs }: TimeSpan): boolean {
  return timeMs !== undefined && firstMs <= timeMs && timeMs <= lastMs;
}

/** The lanes of the workers within a part of the time, the busiest first. */
export function lanesOf(ids: readonly ListRow[], span: TimeSpan): readonly WorkerLane[] {
  const lanes = new Map<string, { row: ListRow; count: number; bins: number[] }>();
  for (const row of ids) {
    if (row.timeMs === undefined || !isWithin(row, span)) continue;
    const key = laneKey(row);
    const lane = lanes.get(key) ?? { row, count: 0, bins: Array.from({ length: binCount }, () => 0) };
    lanes.set(key, lane);
    lane.count++;
    lane.bins[binOf(row.timeMs, span)]!++;
  }
  return [...lanes.values()]
    .map(({ row, count, bins }): WorkerLane => {
      const { reading } = row.entry;
      const parsed = reading.kind === "read" ? reading.source.parsed : undefined;
      return { datacenterId: parsed?.datacenterId, workerId: parsed?.workerId, count, bins };
    })
    .toSorted((one, other) => other.count - one.count);
}
