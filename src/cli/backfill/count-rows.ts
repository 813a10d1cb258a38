import { type Layout, ticksToMsDown, ticksToMsUp } from "../../snowflake/layout.ts";
import { lanesMax, PastSlots, slotsOfTick } from "../../snowflake/past-numbers.ts";
import { type Row, type RowRules, rowsOf } from "./rows.ts";

/** The rows of a file, counted before anything is claimed for them. */
export interface RowCount {
  readonly rows: number;
  readonly badRows: number;
  /** The times of the oldest and the newest row: Unix milliseconds. */
  readonly firstMs: number;
  readonly lastMs: number;
  /** Where the first row begins, in ticks from the epoch. */
  readonly firstTick: number;
  /** The slots of all rows, by the number of lanes less one. */
  readonly byLanes: readonly PastSlots[];
}

/** How many bad rows are named; the others are counted. */
export const namedMax = 10;

/** Reads all rows and counts them. @param onBad - Called with each bad row. @throws CommandError as {@link rowsOf}. */
export async function countRows(
  chunks: AsyncIterable<string>,
  rules: RowRules,
  onBad: (row: Extract<Row, { kind: "bad" }>) => void,
): Promise<RowCount> {
  const { layout } = rules;
  const byLanes = Array.from({ length: lanesMax }, (_, index) => new PastSlots(slotsOfTick(layout, index + 1)));
  let [rows, badRows, oldest, newest] = [0, 0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for await (const batch of rowsOf(chunks, rules)) {
    for (const row of batch) {
      if (row.kind === "bad") {
        badRows += 1;
        onBad(row);
      }
      if (row.kind !== "row") continue;
      rows += 1;
      oldest = Math.min(oldest, row.tick);
      newest = Math.max(newest, row.tick);
      for (const slots of byLanes) slots.take(row.tick);
    }
  }
  return {
    rows,
    badRows,
    firstMs: ticksToMsDown(layout, oldest),
    lastMs: ticksToMsDown(layout, newest),
    firstTick: oldest,
    byLanes,
  };
}

/** The interval that rows need: of whole milliseconds, from their first tick to the end of their last slot's. */
export function intervalOf(layout: Layout, { firstTick, byLanes }: RowCount, laneCount: number) {
  const lastTick = byLanes[laneCount - 1]!.tick;
  return { fromMs: ticksToMsDown(layout, firstTick), untilMs: ticksToMsUp(layout, lastTick + 1) };
}
