import { IdError } from "../../errors.ts";
import type { PastGrant } from "../../lease/claim-past.ts";
import { timeText } from "../../lease/records/time-text.ts";
import { nameWorker } from "../../lease/worker-settings.ts";
import { composeId, type Layout, msToTicksUp } from "../../snowflake/layout.ts";
import { slotsOfTick } from "../../snowflake/past-numbers.ts";
import { type BackfillDialectName, backfillDialects, sqlText } from "./backfill-dialect.ts";
import type { TimeUnit } from "./row-time.ts";
import { lagTicks } from "./rows.ts";

/** The rows of a database that get IDs, and how their times are read. */
export interface SqlRows {
  readonly dialect: BackfillDialectName;
  /** Names as they are in the database; a table's may have its schema and a point before it. */
  readonly table: string;
  readonly key: string;
  readonly id: string;
  readonly time: string;
  readonly unit: TimeUnit;
  readonly timeZone: string;
  /** Unix milliseconds, without the end. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly lagMaxMs: number;
}

/** The claim for them. */
export interface SqlClaim {
  readonly layout: Layout;
  readonly deploymentId: string;
  readonly grant: PastGrant;
  readonly reason: string;
}

/** The most slots that a claim may have, lest a sum of 64 bits overflows in the database. */
const slotsMax = 2 ** 62;

/** @throws IdError INVALID_TIME_RANGE where the interval has more slots than a database counts. */
export function checkSlots(
  layout: Layout,
  { fromMs, untilMs }: Pick<PastGrant, "fromMs" | "untilMs">,
  laneCount: number,
): void {
  const slots = (msToTicksUp(layout, untilMs) - msToTicksUp(layout, fromMs)) * slotsOfTick(layout, laneCount);
  if (slots < slotsMax) return;
  const message = "The interval has more IDs than a database counts in 64 bits. Number it in parts, the oldest first.";
  throw new IdError("INVALID_TIME_RANGE", message, { metadata: { slots } });
}

/** The statements by which a database numbers its rows. */
export function backfillSql(rows: SqlRows, { layout, deploymentId, grant, reason }: SqlClaim): string {
  const dialect = backfillDialects[rows.dialect];
  const { fromMs, untilMs, workerIndexes, firstTick, endTick } = grant;
  const lanes = grant.lanes.map((lane) => composeId(layout, { ticks: 0, ...lane, sequence: 0 }));
  const names = workerIndexes.map((index) => nameWorker(layout, index)).join(", ");
  const capacity = slotsOfTick(layout, lanes.length);
  const slotsOfLane = layout.sequence.max + 1;
  const { divide, quote } = dialect;
  const tickOf = (us: string): string =>
    `${divide(`${us} - ${layout.epochMs * 1_000}`, String(layout.tickNs / 1_000))} - ${firstTick}`;
  const laneOf = (slot: string): string => {
    const place = divide(`${slot} % ${capacity}`, String(slotsOfLane));
    return lanes.length === 1
      ? String(lanes[0])
      : `CASE ${place} ${lanes.map((bits, lane) => `WHEN ${lane} THEN ${bits}`).join(" ")} END`;
  };
  const idOf = (slot: string): string =>
    `(${divide(slot, String(capacity))} + ${firstTick}) * ${1n << BigInt(layout.timestamp.shift)} + ${laneOf(slot)} + (${slot} % ${slotsOfLane}) * ${layout.stride}`;
  const statements = dialect.statements(
    {
      table: rows.table.split(".").map(quote).join("."),
      key: quote(rows.key),
      id: quote(rows.id),
      us: dialect.unixUs(quote(rows.time), rows.unit, rows.timeZone),
      zone: sqlText(rows.timeZone),
      obstacle: rows.unit === "iso" ? dialect.zoneObstacle?.(rows.timeZone) : undefined,
      claim: sqlText(`${deploymentId.slice(0, 8)} ${names} ${timeText(fromMs)}..${timeText(untilMs)}`),
      reason: sqlText(reason),
      tickOf,
      capacity: String(capacity),
      fromUs: String(rows.fromMs * 1_000),
      untilUs: String(rows.toMs * 1_000),
      slotCount: String((endTick - firstTick) * capacity),
      lagMaxTicks: String(lagTicks(layout, rows.lagMaxMs)),
      idOf,
    },
    dialect,
  );
  return `-- IDs for existing rows, for ${dialect.title}: ${reason.replaceAll("\n", " ")}
-- Worker ${lanes.length === 1 ? "ID" : "IDs"} ${names}, from ${timeText(fromMs)} to ${timeText(untilMs)}, claimed for these rows and for no others.
-- Run it once, in the database of the rows. After a restore of that database from an older copy, claim again.
${statements}
`;
}
