/// <reference lib="esnext.disposable" preserve="true" />
import { systemClock } from "../clock/clock.ts";
import { IdError } from "../errors.ts";
import { type IdRange, idRange } from "../snowflake/id-range.ts";
import type { Layout } from "../snowflake/layout.ts";
import { type ParsedId, parseId } from "../snowflake/parse.ts";
import { type IdRun, idsOf } from "../snowflake/run.ts";
import { createTextCodec, type ReadOptions, type TextCodec } from "../text/text-codec.ts";
import type { IdSource, ReserveRequest, WorkerStatus } from "../worker/id-source.ts";
import type { Worker } from "../worker/open-worker.ts";
import { checkOptions, lengthMs, type OptionRule } from "./check-options.ts";

/** A moment: a Date, or Unix nanoseconds. */
export type Moment = Date | bigint;

/** The options of one call. */
export interface CallOptions {
  /** Ends a wait; the error is the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** The longest wait for IDs, in milliseconds; never longer than `waitMaxMs`, which is 1,000 by default. */
  readonly timeoutMs?: number | undefined;
}

/** The options of one stream. */
export interface StreamOptions extends CallOptions {
  /** The most IDs of one chunk, 1 to 65,536. Default: 4,096. */
  readonly chunkSize?: number | undefined;
  /** True: the stream ends with CLOCK_ROLLED_BACK if its next IDs could be below earlier ones. Default: false. */
  readonly ordered?: boolean | undefined;
}

const streamCountMax = 1_000_000_000;
const chunkSizeMax = 65_536;
const chunkSizeDefault = 4_096;
/** How long giving back the worker ID may take. */
const releaseTimeoutMs = 3_000;

const aSignal: OptionRule = { accepts: (value) => value instanceof AbortSignal, hint: "an AbortSignal" };
const callRules: Readonly<Record<keyof CallOptions, OptionRule>> = { signal: aSignal, timeoutMs: lengthMs };
const streamRules: Readonly<Record<keyof StreamOptions, OptionRule>> = {
  ...callRules,
  chunkSize: {
    accepts: (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= chunkSizeMax,
    hint: `a whole number from 1 to ${chunkSizeMax}`,
  },
  ordered: { accepts: (value) => typeof value === "boolean", hint: "true or false" },
};

/**
 * The IDs of one worker ID that this process holds. Made by `openSnowlane`, and used like a client of a server, with
 * the same method names.
 */
export class Snowlane {
  readonly layout: Layout;
  readonly #worker: Pick<Worker, "source" | "close">;
  readonly #source: IdSource;
  readonly #codec: TextCodec;
  #closing: Promise<void> | undefined;

  constructor(worker: Pick<Worker, "source" | "close">, namespace: string) {
    this.layout = worker.source.layout;
    this.#worker = worker;
    this.#source = worker.source;
    this.#codec = createTextCodec({ layout: this.layout, namespace });
  }

  /**
   * Makes one ID: returned directly if one is available without waiting, otherwise as a promise.
   *
   * `await` costs ten times what the ID costs, so test `typeof id === "bigint"` in hot loops.
   *
   * @throws IdError (as a rejection) INVALID_CONFIG for an option; BURST_EXCEEDED, CLOCK_ROLLED_BACK,
   * WORKER_LEASE_LOST, WINDOW_EXPIRED, STORE_UNAVAILABLE, SHUTTING_DOWN, TIMESTAMP_EXHAUSTED, CLOCK_BEFORE_EPOCH; the
   * signal's reason.
   */
  nextId(options?: CallOptions): bigint | Promise<bigint> {
    try {
      const id = this.#source.tryNext();
      if (id !== undefined) return id;
    } catch (error) {
      return Promise.reject(error);
    }
    return this.#waitForId(options);
  }

  /**
   * Makes exactly `count` IDs, or throws. They rise unless the worker ID changes meanwhile.
   *
   * @param count - 1 to 1,048,576, inclusive.
   * @throws IdError (as a rejection) COUNT_OUT_OF_RANGE, and those of {@link nextId}.
   */
  async nextIds(count: number, options?: CallOptions): Promise<bigint[]> {
    checkCount(count, this.#source.reserveCountMax);
    checkOptions(options ?? {}, callRules);
    const all: bigint[] = [];
    for await (const ids of this.stream(count, options)) all.push(...ids);
    return all;
  }

  /**
   * Reserves 1 to `count` IDs, as runs: as many as are available without waiting. They belong to the caller, whether it
   * uses them or not.
   *
   * @param count - 1 to 1,048,576, inclusive.
   * @throws IdError (as a rejection) COUNT_OUT_OF_RANGE, and those of {@link nextId}.
   */
  async reserve(count: number, options: CallOptions = {}): Promise<readonly IdRun[]> {
    checkCount(count, this.#source.reserveCountMax);
    checkOptions(options, callRules);
    const { runs } = await this.#source.reserve({ count, priority: "bulk", ...limitsOf(options) });
    return runs;
  }

  /**
   * Makes exactly `count` IDs in chunks, or throws. Leaving the loop ends the stream.
   *
   * @param count - 1 to 10^9, inclusive.
   * @throws IdError COUNT_OUT_OF_RANGE, and those of {@link nextId}.
   */
  async *stream(count: number, options: StreamOptions = {}): AsyncGenerator<readonly bigint[], void, undefined> {
    checkCount(count, streamCountMax);
    checkOptions(options, streamRules);
    const { chunkSize = chunkSizeDefault, ordered = false, signal } = options;
    const limits = limitsOf(options);
    let risingSpan: number | undefined;
    for (let left = count; left > 0; ) {
      signal?.throwIfAborted();
      const request: ReserveRequest = { count: Math.min(left, chunkSize), priority: "bulk", risingSpan, ...limits };
      const drawn = await this.#source.reserve(request);
      if (ordered) ({ risingSpan } = drawn);
      left -= drawn.count;
      yield [...idsOf(drawn.runs)];
      // A reader may never wait for anything, and the timers that renew the worker ID need a turn.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /**
   * Reads an ID, or a text form of one: when and by which worker it was made. Cannot show whether it was issued.
   *
   * @throws IdError MALFORMED_ID; MALFORMED_TEXT, also for a UUID that holds no ID of this layout and namespace;
   * AMBIGUOUS_TEXT, INVALID_TEXT_FORMAT.
   */
  parse(idOrText: bigint | string, options: Partial<ReadOptions> = {}): ParsedId {
    if (typeof idOrText === "bigint") return parseId(this.layout, idOrText);
    if (typeof idOrText !== "string") {
      const message = "Give the ID as a bigint or as a string: a number loses the last digits of an ID.";
      throw new IdError("MALFORMED_ID", message, { metadata: { type: typeof idOrText } });
    }
    const { id } = this.#codec.read(idOrText, { ...options, nowMs: options.nowMs ?? systemClock.nowMs() });
    if (id !== undefined) return parseId(this.layout, id);
    throw new IdError("MALFORMED_TEXT", "The UUID holds no ID of this layout and namespace.", {
      metadata: { form: "uuid", reason: "foreign" },
    });
  }

  /**
   * Returns the lowest and the highest ID that a time interval can hold, both inclusive, for range queries over stored
   * IDs.
   *
   * @param start - Inclusive.
   * @param end - Exclusive.
   * @throws IdError INVALID_TIME_RANGE.
   */
  idRange(start: Moment, end: Moment): IdRange {
    return idRange(this.layout, nsOf(start), nsOf(end));
  }

  /** The state of the worker ID, the clock and the store, for logs and health checks. */
  status(): WorkerStatus {
    return this.#source.status();
  }

  /**
   * Gives the worker ID back and closes the store; waits at most 3 s for the store. No ID is made afterwards. A second
   * call waits for the first.
   */
  close(): Promise<void> {
    this.#closing ??= this.#worker.close(releaseTimeoutMs);
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #waitForId(options: CallOptions = {}): Promise<bigint> {
    checkOptions(options, callRules);
    const { runs } = await this.#source.reserve({ count: 1, priority: "unary", ...limitsOf(options) });
    return runs[0]!.firstId;
  }
}

function limitsOf({ signal, timeoutMs }: CallOptions): Pick<ReserveRequest, "signal" | "deadlineMs"> {
  return { signal, deadlineMs: timeoutMs === undefined ? undefined : systemClock.monotonicMs() + timeoutMs };
}

function checkCount(count: number, countMax: number): void {
  if (Number.isInteger(count) && count >= 1 && count <= countMax) return;
  throw new IdError("COUNT_OUT_OF_RANGE", `The count ${String(count)} is not from 1 to ${countMax}.`, {
    metadata: { count: String(count), count_min: 1, count_max: countMax },
  });
}

function nsOf(moment: Moment): bigint {
  if (typeof moment === "bigint") return moment;
  if (moment instanceof Date && Number.isFinite(moment.getTime())) return BigInt(moment.getTime()) * 1_000_000n;
  throw new IdError("INVALID_TIME_RANGE", "Give each end as a valid Date, or as Unix nanoseconds in a bigint.", {
    metadata: { end: String(moment) },
  });
}
