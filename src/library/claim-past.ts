import { IdError } from "../errors.ts";
import { type Layout, msToTicksDown, ticksToMsDown, ticksToMsUp } from "../snowflake/layout.ts";
import { inWholeTicks, lanesMax, type PastLane, PastNumbers } from "../snowflake/past-numbers.ts";
import { version as ownVersion } from "../version.ts";
import { PastStore } from "../worker/open-past.ts";
import { storeUrlOf } from "./open-snowlane.ts";
import { checkOptions, lengthMs, type OptionRule, text, whole, wholes, wholeRange } from "./check-options.ts";

/** The options of {@link claimPast}. docs/back-fill.md says what the two statements mean. */
export interface ClaimPastOptions {
  /** The URL of the store that all processes share. Default: `SNOWLANE_STORE` of the environment. */
  readonly store?: string | undefined;
  /** The set of records in the store. Default: `default`. */
  readonly namespace?: string | undefined;
  /** The time of the oldest row. */
  readonly from: Date;
  /** After the time of the newest row, by as much as IDs may lag; at most now. */
  readonly to: Date;
  /** How many worker IDs are claimed, 1 to 16: more for rows that come close together. Default: 1. */
  readonly lanes?: number | undefined;
  /** The time since which every ID of the layout came from this store. `always`: no other generator ever made one. */
  readonly knownSince: Date | "always";
  /** Up to when the store lost nothing that it had confirmed. Default: nothing is stated. */
  readonly storeKeptUntil?: Date | "now" | undefined;
  /** For operators: 1 to 60 printable ASCII characters. */
  readonly reason: string;
  /** By how much the time of an ID may be later than that of its row, in milliseconds. Default: 1,000. */
  readonly lagMaxMs?: number | undefined;
  /** Claims only worker IDs of these datacenters. */
  readonly datacenterIds?: readonly number[] | undefined;
  /** Claims only these worker IDs. */
  readonly workerIds?: { readonly first: number; readonly last: number } | undefined;
}

const aDate = (value: unknown): boolean => value instanceof Date && !Number.isNaN(value.getTime());
const rules: Readonly<Record<keyof ClaimPastOptions, OptionRule>> = {
  store: text,
  namespace: text,
  from: { accepts: aDate, hint: "a Date" },
  to: { accepts: aDate, hint: "a Date" },
  lanes: {
    accepts: (value) => whole.accepts(value) && Number(value) >= 1 && Number(value) <= lanesMax,
    hint: `a whole number from 1 to ${lanesMax}`,
  },
  knownSince: { accepts: (value) => value === "always" || aDate(value), hint: "a Date, or always" },
  storeKeptUntil: { accepts: (value) => value === "now" || aDate(value), hint: "a Date, or now" },
  reason: {
    accepts: (value) => typeof value === "string" && /^[ -~]{1,60}$/.test(value),
    hint: "1 to 60 printable ASCII characters",
  },
  lagMaxMs: lengthMs,
  datacenterIds: wholes,
  workerIds: wholeRange,
};

/** An interval of the past that belongs to this process, for ever. Made by {@link claimPast}. */
export class PastClaim {
  readonly layout: Layout;
  /** The worker IDs, in the order of their use. */
  readonly lanes: readonly PastLane[];
  readonly fromTime: Date;
  /** Exclusive. */
  readonly toTime: Date;
  readonly #numbers: PastNumbers;
  readonly #firstTick: number;
  readonly #lagMaxTicks: number;

  /** Not to be called: {@link claimPast} does. */
  constructor(
    layout: Layout,
    grant: {
      readonly firstTick: number;
      readonly endTick: number;
      readonly lanes: readonly PastLane[];
    },
    lagMaxMs: number,
  ) {
    this.layout = layout;
    this.lanes = grant.lanes;
    this.fromTime = new Date(ticksToMsDown(layout, grant.firstTick));
    this.toTime = new Date(ticksToMsUp(layout, grant.endTick));
    this.#numbers = new PastNumbers(layout, grant);
    this.#firstTick = grant.firstTick;
    this.#lagMaxTicks = Math.max(1, Math.floor((lagMaxMs * 1_000_000) / layout.tickNs));
  }

  /**
   * The ID of the next row. Rows come sorted by time; each gets the next free number of its tick or of a later one.
   *
   * @throws IdError INVALID_TIME_RANGE: the row is before the claim, or out of order by more than the lag, or the claim
   * has no room for it.
   */
  idFor(time: Date): bigint {
    const tick = msToTicksDown(this.layout, time.getTime());
    const shown = Number.isNaN(tick) ? "no time" : time.toISOString();
    if (Number.isNaN(tick) || tick < this.#firstTick) {
      throw outside(`${shown} is not in the claim, which begins at ${this.fromTime.toISOString()}.`, shown);
    }
    if (this.#numbers.slots.tick - tick > this.#lagMaxTicks) {
      throw outside(`${shown} would get an ID of a later time: sort the rows by time, or claim more lanes.`, shown);
    }
    const id = this.#numbers.next(tick);
    if (id === undefined)
      throw outside(`The claim has no room for ${shown}: it ends at ${this.toTime.toISOString()}.`, shown);
    return id;
  }
}

/**
 * Claims an interval of the past for rows that exist already: no other claim, and no server, ever makes one of its IDs.
 * The store is closed before this resolves, and no worker ID is held. The layout is that of the namespace.
 *
 * Calling it again wastes a claim: the number of claims over one interval is bounded.
 *
 * @throws IdError (as a rejection) INVALID_CONFIG, INVALID_TIME_RANGE, STORE_WENT_BACK (the store may have lost what
 * was issued before: see `storeKeptUntil`), NO_FREE_WORKER_ID, STORE_UNAVAILABLE.
 */
export async function claimPast(options: ClaimPastOptions): Promise<PastClaim> {
  checkOptions(options, rules);
  const { from, to, knownSince, storeKeptUntil, reason, lanes = 1, lagMaxMs = 1_000 } = options;
  const { store, namespace = "default", datacenterIds, workerIds } = options;
  for (const [name, value] of Object.entries({ from, to, knownSince, reason })) {
    if (value === undefined) throw missing(name);
  }
  const past = await PastStore.open({ storeUrl: storeUrlOf(store), namespace, version: ownVersion });
  try {
    const grant = await past.claim({
      ...inWholeTicks(past.layout, from.getTime(), to.getTime()),
      laneCount: lanes,
      reason,
      knownSinceMs: knownSince === "always" ? Number.NEGATIVE_INFINITY : knownSince.getTime(),
      storeKeptUntilMs:
        storeKeptUntil instanceof Date ? storeKeptUntil.getTime() : (storeKeptUntil ?? Number.NEGATIVE_INFINITY),
      datacenterIds,
      workerIds,
    });
    return new PastClaim(past.layout, grant, lagMaxMs);
  } finally {
    await past.close();
  }
}

function missing(name: string): IdError {
  return new IdError("INVALID_CONFIG", `Give ${name}.`, { metadata: { setting: name } });
}

function outside(message: string, time: string): IdError {
  return new IdError("INVALID_TIME_RANGE", message, { metadata: { time } });
}
