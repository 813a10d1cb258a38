import type { Clock } from "../clock/clock.ts";
import type { IdSource } from "../worker/id-source.ts";

/** Counts since the server started; each only grows. */
export interface ActivityTotals {
  /** IDs that were issued. */
  readonly idsCount: number;
}

/** What a server did in one second. */
export interface StatusSample {
  /** From 1 at the start of the server. */
  readonly index: number;
  /** The end of the second: Unix milliseconds. */
  readonly timeMs: number;
  readonly idsCount: number;
  /** At the end of the second; undefined without a worker ID. */
  readonly leadMs: number | undefined;
  /** At the end of the second; undefined without a worker ID. */
  readonly windowLeftMs: number | undefined;
}

/** The samples that are kept: five minutes. */
export const samplesMax = 300;

/** The numbers of one sample, each in an array of its own, so that a second costs no object that stays. */
type Columns = Readonly<Record<Exclude<keyof StatusSample, "index">, Float64Array>>;

/** The parts that samples are read from. */
export interface StatusSamplesOptions {
  readonly source: Pick<IdSource, "status">;
  readonly clock: Clock;
}

/**
 * What a server did in each of the last 300 seconds, kept in arrays of numbers that are made once: 15 kB. It is always
 * filled, so that it tells about what just went wrong, and it reads counts that are there anyway: no call pays for it.
 */
export class StatusSamples {
  readonly #options: StatusSamplesOptions;
  readonly #columns: Columns;
  /** Samples that were taken since the start. */
  #count = 0;
  #before: ActivityTotals;

  constructor(options: StatusSamplesOptions) {
    this.#options = options;
    this.#columns = { timeMs: column(), idsCount: column(), leadMs: column(), windowLeftMs: column() };
    this.#before = this.#totals();
  }

  /** Notes the second that ends now. */
  take(): void {
    const { source, clock } = this.#options;
    const { grant } = source.status();
    const totals = this.#totals();
    const at = this.#count % samplesMax;
    const columns = this.#columns;
    columns.timeMs[at] = clock.nowMs();
    columns.idsCount[at] = totals.idsCount - this.#before.idsCount;
    // NaN stands for what there is not.
    columns.leadMs[at] = grant?.leadMs ?? Number.NaN;
    columns.windowLeftMs[at] = grant?.windowLeftMs ?? Number.NaN;
    this.#before = totals;
    this.#count += 1;
  }

  /**
   * Gives the samples after an index, oldest first: those that are still kept.
   *
   * @param index - 0: all. So is an index that was not reached: it is another server's.
   */
  after(index: number): readonly StatusSample[] {
    const firstKept = Math.max(0, this.#count - samplesMax);
    const from = index > this.#count ? firstKept : Math.max(firstKept, index);
    return Array.from({ length: this.#count - from }, (_, offset) => this.#sample(from + offset));
  }

  #sample(number: number): StatusSample {
    const at = number % samplesMax;
    const { timeMs, idsCount, leadMs, windowLeftMs } = this.#columns;
    return {
      index: number + 1,
      timeMs: timeMs[at]!,
      idsCount: idsCount[at]!,
      leadMs: numberIn(leadMs, at),
      windowLeftMs: numberIn(windowLeftMs, at),
    };
  }

  #totals(): ActivityTotals {
    return { idsCount: this.#options.source.status().counters.issued };
  }
}

function column(): Float64Array {
  return new Float64Array(samplesMax);
}

function numberIn(column: Float64Array, at: number): number | undefined {
  const value = column[at]!;
  return Number.isNaN(value) ? undefined : value;
}
