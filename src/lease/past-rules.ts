/** Rules 4 and 5 of claim-past.ts: what is checked of a claim of the past before a worker ID is chosen. */
import { IdError } from "../errors.ts";
import type { Layout } from "../snowflake/layout.ts";
import type { Entry } from "../store/record-store.ts";
import { lossDetail } from "./quarantine.ts";
import type { IncarnationRecord } from "./records/incarnation-record.ts";
import { parseQuarantineRecord } from "./records/quarantine-record.ts";
import { recordKeys } from "./records/record-text.ts";
import { timeText } from "./records/time-text.ts";
import { parseWorkerKey, readableFence } from "./records/worker-record.ts";
import { quarantineMs, type WindowRules } from "./window.ts";

/** Facts about a store that only an operator can know. Unix milliseconds. */
export interface PastStatements {
  /**
   * Since when every ID of the layout with the worker IDs in question came from this store; -Infinity: no other
   * generator ever made one.
   */
  readonly knownSinceMs: number;
  /** Up to when the store lost no write that it had confirmed; -Infinity: nothing is stated. */
  readonly storeKeptUntilMs: number;
}

/** An interval to claim: Unix milliseconds, its end exclusive. */
export interface PastInterval {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** The facts that a store shows, by which a claim is judged. */
export interface PastSight {
  readonly kind: string;
  readonly durability: "durable" | "lossy";
  readonly layout: Layout;
  readonly rules: Pick<WindowRules, "windowMaxMs" | "leadMaxMs">;
  readonly entries: readonly Entry[];
  readonly incarnation: IncarnationRecord;
  /** The store's clock, or the wall clock where the store has no clock. */
  readonly nowMs: number;
  readonly hasClock: boolean;
}

/** A sign that the store may have lost data. */
interface LossEvidence {
  readonly text: string;
  /** A statement that the store lost nothing up to this time makes the evidence void: Unix milliseconds. */
  readonly voidMs: number;
  /** Without such a statement no claim may begin before this time: Unix milliseconds. */
  readonly floorMs: number;
}

/** The signs of losses that a store shows, regardless of what was stated. */
export function lossEvidence({ kind, rules, entries, incarnation }: PastSight): readonly LossEvidence[] {
  const found: LossEvidence[] = [];
  const { t0Ms } = incarnation;
  if (t0Ms !== 0) {
    const text = `seen at ${timeText(t0Ms)}: ${lossDetail(kind)}`;
    found.push({ text, voidMs: t0Ms, floorMs: t0Ms + quarantineMs(rules) });
  }
  const entry = entries.find(({ key }) => key === recordKeys.quarantine);
  if (entry !== undefined) {
    const { untilMs, reason } = parseQuarantineRecord(entry.text);
    // The statement has to reach the quarantine's end: a later loss with a shorter quarantine is not written where a
    // longer one exists, so the beginning of the record may be earlier than the last loss.
    found.push({ text: `quarantine until ${timeText(untilMs)}: ${reason}`, voidMs: untilMs, floorMs: untilMs });
  }
  return found;
}

/**
 * Refuses an interval that is empty, or lies outside of the layout's life.
 *
 * @throws IdError INVALID_TIME_RANGE.
 */
function checkInterval({ fromMs, untilMs }: PastInterval, { epochMs, endMs }: Layout): void {
  if (fromMs >= untilMs)
    throw invalidTime(fromMs, untilMs, `The interval from ${timeText(fromMs)} to ${timeText(untilMs)} is empty.`);
  if (fromMs >= epochMs && untilMs <= endMs) return;
  const life = `from ${timeText(epochMs)} to ${timeText(endMs)}`;
  throw invalidTime(
    fromMs,
    untilMs,
    `IDs of this layout carry times ${life}, and ${timeText(fromMs < epochMs ? fromMs : untilMs)} is outside.`,
  );
}

/**
 * Checks a claim against what the store shows and what the operator stated.
 *
 * @throws IdError INVALID_CONFIG for a statement, INVALID_TIME_RANGE, STORE_WENT_BACK (below the floor).
 */
export function checkPast(sight: PastSight, { fromMs, untilMs }: PastInterval, statements: PastStatements): void {
  const { nowMs, layout } = sight;
  checkStatements(sight, statements);
  checkInterval({ fromMs, untilMs }, layout);
  if (untilMs > nowMs) {
    const by = sight.hasClock ? "the store's clock" : "the clock of this machine";
    throw invalidTime(fromMs, untilMs, `${timeText(untilMs)} is in the future: it is ${timeText(nowMs)} by ${by}.`);
  }
  const highestMs = highestMark(sight.entries);
  if (!sight.hasClock && untilMs > highestMs) {
    const latest =
      highestMs === Number.NEGATIVE_INFINITY
        ? "no server has ever run on it"
        : `servers ran up to ${timeText(highestMs)}`;
    throw invalidTime(
      fromMs,
      untilMs,
      `The ${sight.kind} store has no clock, and ${latest}: later than that nothing is claimed. Start a server on it, then claim again.`,
    );
  }
  if (fromMs < statements.knownSinceMs) {
    const message = `It is known since ${timeText(statements.knownSinceMs)} that all IDs came from this store; nothing shows which IDs another generator made before. Begin there, or claim of worker IDs that the other generator never used.`;
    throw invalidTime(fromMs, untilMs, message);
  }
  checkFloor(sight, fromMs, statements);
}

function checkStatements({ nowMs, durability, kind }: PastSight, statements: PastStatements): void {
  const stated = { "known-since": statements.knownSinceMs, "store-kept-until": statements.storeKeptUntilMs };
  for (const [setting, ms] of Object.entries(stated)) {
    if (ms <= nowMs) continue;
    const message = `${setting} is ${timeText(ms)}, which is in the future: the statement is about what has happened. It is ${timeText(nowMs)}.`;
    throw new IdError("INVALID_CONFIG", message, { metadata: { setting, value_unix_ms: ms, now_unix_ms: nowMs } });
  }
  if (durability === "lossy" && statements.storeKeptUntilMs !== Number.NEGATIVE_INFINITY) {
    const message = `The ${kind} store may lose writes that it confirmed, and not every loss can be known: leave store-kept-until out. Times after its last start can be claimed without it.`;
    throw new IdError("INVALID_CONFIG", message, { metadata: { setting: "store-kept-until", store: kind } });
  }
}

/**
 * @throws IdError STORE_WENT_BACK, with the evidence and the earliest time at which a claim can begin without a
 * statement.
 */
function checkFloor(sight: PastSight, fromMs: number, { storeKeptUntilMs }: PastStatements): void {
  const evidence = lossEvidence(sight);
  // While grants wait for the end of a quarantine, claims wait as well, no matter what was stated.
  const standing = evidence.filter(({ floorMs }) => floorMs > sight.nowMs);
  const binding = evidence.filter(({ voidMs, floorMs }) => voidMs > storeKeptUntilMs && floorMs > fromMs);
  const refused = standing.length > 0 ? standing : binding;
  if (refused.length === 0) return;
  const floorMs = Math.max(...refused.map((each) => each.floorMs));
  const texts = refused.map(({ text }) => text).join("; ");
  const keptMs = Math.max(...refused.map(({ voidMs }) => voidMs));
  const advice =
    standing.length > 0
      ? `Claim again after ${timeText(floorMs)}.`
      : `From ${timeText(floorMs)} on, a claim is possible as it is.` +
        (sight.durability === "lossy"
          ? ""
          : ` If you know that the store kept all it confirmed up to ${timeText(keptMs)} or later, say so with store-kept-until.`);
  const message = `The store may have lost what was issued or claimed before (${texts}). ${advice}`;
  throw new IdError("STORE_WENT_BACK", message, { metadata: { from_unix_ms: floorMs, evidence: texts } });
}

/** The highest mark of any record: servers ran up to about then. -Infinity if there is none. */
function highestMark(entries: readonly Entry[]): number {
  const marks = entries.flatMap((entry) =>
    parseWorkerKey(entry.key) === undefined ? [] : [readableFence(entry)?.markMs ?? Number.NEGATIVE_INFINITY],
  );
  return Math.max(Number.NEGATIVE_INFINITY, ...marks);
}

function invalidTime(fromMs: number, untilMs: number, message: string): IdError {
  return new IdError("INVALID_TIME_RANGE", message, { metadata: { from_unix_ms: fromMs, until_unix_ms: untilMs } });
}
