import type { Clock } from "../clock/clock.ts";
import type { IdSource } from "../worker/id-source.ts";

/** Counts of calls since the server started; each only grows. */
export interface CallTotals {
  readonly callCount: number;
  /** Calls that ended with an error, by their gRPC code, 0 to 16. */
  readonly errorCounts: Float64Array;
  /** Calls by the time that they took: one number for each of `boundsMs`, and one for all calls above. */
  readonly tookCounts: Float64Array;
  /** Upper bounds, rising. */
  readonly boundsMs: readonly number[];
}

/** How many calls of a second ended with a gRPC code, 1 to 16 (docs/adr/0220). */
interface ErrorCode {
  readonly code: number;
  readonly count: number;
}

/** The figures of a server in one second. */
export interface StatusSample {
  /** From 1 at the start of the server. */
  readonly index: number;
  /** The end of the second: Unix milliseconds. */
  readonly timeMs: number;
  readonly idsCount: number;
  /** Values of sequences. */
  readonly valuesCount: number;
  readonly callCount: number;
  readonly errorCount: number;
  /** The errors by their gRPC code, the lowest code first. */
  readonly errorCodes: readonly ErrorCode[];
  /** Half of the calls took at most this long; undefined if no call was timed. */
  readonly p50Ms: number | undefined;
  readonly p99Ms: number | undefined;
  /** At the end of the second; undefined without a worker ID. */
  readonly leadMs: number | undefined;
  /** At the end of the second; undefined without a worker ID. */
  readonly windowLeftMs: number | undefined;
}

/** The samples that are kept: five minutes. */
export const samplesMax = 300;

/** The numbers of one sample; NaN stands for a missing one. */
const names = [
  "timeMs",
  "idsCount",
  "valuesCount",
  "callCount",
  "errorCount",
  "p50Ms",
  "p99Ms",
  "leadMs",
  "windowLeftMs",
] as const satisfies readonly (keyof StatusSample)[];
type Name = (typeof names)[number];

/** The counts that are sampled once a second. */
export interface StatusSamplesOptions {
  /** The source, whose status is read. */
  readonly source: Pick<IdSource, "status">;
  /** Undefined if this server keeps no sequences. */
  readonly sequences: { readonly issuedCount: number } | undefined;
  readonly clock: Clock;
  /** Undefined if the server does not count calls. */
  readonly readCalls: (() => CallTotals) | undefined;
}

const noCalls: CallTotals = {
  callCount: 0,
  errorCounts: new Float64Array(0),
  tookCounts: new Float64Array(0),
  boundsMs: [],
};

/**
 * The figures of a server in each of the last 300 seconds, in one array of numbers that is allocated once: 22 kB. Only
 * a second with errors has a list of its own beside it.
 * Samples are always taken, so that they show what has just gone wrong. They read counts that exist anyway, so they
 * cost no call anything.
 */
export class StatusSamples {
  readonly #options: StatusSamplesOptions;
  readonly #numbers = new Float64Array(samplesMax * names.length);
  readonly #errorCodes: (readonly ErrorCode[])[] = [];
  /** Samples that were taken since the start. */
  #count = 0;
  #issuedBefore: number;
  #valuesBefore: number;
  #callsBefore: CallTotals;

  constructor(options: StatusSamplesOptions) {
    this.#options = options;
    this.#issuedBefore = options.source.status().counters.issued;
    this.#valuesBefore = options.sequences?.issuedCount ?? 0;
    this.#callsBefore = options.readCalls?.() ?? noCalls;
  }

  /** Notes the second that ends now. */
  take(): void {
    const { source, sequences, clock, readCalls } = this.#options;
    const values = sequences?.issuedCount ?? 0;
    const { grant, counters } = source.status();
    const calls = readCalls?.() ?? noCalls;
    const before = this.#callsBefore;
    const took = calls.tookCounts.map((count, bucket) => count - before.tookCounts[bucket]!);
    const errorCodes = codesOf(calls.errorCounts, before.errorCounts);
    const sample: Readonly<Record<Name, number>> = {
      timeMs: clock.nowMs(),
      idsCount: counters.issued - this.#issuedBefore,
      valuesCount: values - this.#valuesBefore,
      callCount: calls.callCount - before.callCount,
      errorCount: errorCodes.reduce((sum, { count }) => sum + count, 0),
      p50Ms: quantileMs(took, calls.boundsMs, 0.5),
      p99Ms: quantileMs(took, calls.boundsMs, 0.99),
      leadMs: grant?.leadMs ?? Number.NaN,
      windowLeftMs: grant?.windowLeftMs ?? Number.NaN,
    };
    const place = this.#count % samplesMax;
    const start = place * names.length;
    this.#errorCodes[place] = errorCodes;
    for (const [offset, name] of names.entries()) this.#numbers[start + offset] = sample[name];
    this.#issuedBefore = counters.issued;
    this.#valuesBefore = values;
    this.#callsBefore = calls;
    this.#count += 1;
  }

  /**
   * Returns the samples after an index that are still kept, oldest first.
   *
   * @param index - 0 returns all. So does an index that was not reached yet, because it comes from another server.
   */
  after(index: number): readonly StatusSample[] {
    const firstKept = Math.max(0, this.#count - samplesMax);
    const from = index > this.#count ? firstKept : Math.max(firstKept, index);
    return Array.from({ length: this.#count - from }, (_, offset) => this.#sample(from + offset));
  }

  #sample(number: number): StatusSample {
    const place = number % samplesMax;
    const start = place * names.length;
    const at = (name: Name): number => this.#numbers[start + names.indexOf(name)]!;
    const known = (name: Name): number | undefined => (Number.isNaN(at(name)) ? undefined : at(name));
    return {
      index: number + 1,
      timeMs: at("timeMs"),
      idsCount: at("idsCount"),
      valuesCount: at("valuesCount"),
      callCount: at("callCount"),
      errorCount: at("errorCount"),
      errorCodes: this.#errorCodes[place]!,
      p50Ms: known("p50Ms"),
      p99Ms: known("p99Ms"),
      leadMs: known("leadMs"),
      windowLeftMs: known("windowLeftMs"),
    };
  }
}

const noErrors: readonly ErrorCode[] = [];

/** What came since `before`, code by code. */
function codesOf(counts: Float64Array, before: Float64Array): readonly ErrorCode[] {
  const found = [...counts.entries()]
    .map(([code, count]) => ({ code, count: count - (before[code] ?? 0) }))
    .filter(({ count }) => count > 0);
  return found.length === 0 ? noErrors : found;
}

/**
 * The bound below which a share of the counts is; the last bound also stands for everything above it. NaN if there are
 * no counts.
 */
function quantileMs(counts: Float64Array, boundsMs: readonly number[], share: number): number {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return Number.NaN;
  let below = 0;
  const bucket = counts.findIndex((count) => (below += count) >= total * share);
  return boundsMs[bucket] ?? boundsMs.at(-1) ?? Number.NaN;
}
