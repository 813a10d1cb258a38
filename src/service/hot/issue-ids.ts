import type { Clock } from "../../clock/clock.ts";
import type { Allowance } from "../../queue/allowance.ts";
import type { IdSource, ReservedIds, ReserveRequest } from "../../worker/id-source.ts";
import { RequestError } from "../message/request-error.ts";

/** The source of IDs, and how many a call may ask for. */
export interface IssueOptions {
  /** The worker's source, or the issue log that wraps it. */
  readonly source: IdSource;
  readonly clock: Clock;
  /** The most that one BatchNextIds call may ask for, at least 1. */
  readonly batchCountMax: number;
}

/** {@link IssueOptions}, and the deployment that an answer names. */
export interface AnswerOptions extends IssueOptions {
  /** The deployment of the IDs, as in NextIdResponse; 0 before the first ID. */
  readonly deploymentNow: () => number;
}

/** IDs of one answer. */
export type DrawnIds = Pick<ReservedIds, "runs" | "count">;

/** The limits that a caller sets for its call. */
export interface CallContext {
  /** Aborted, with a reason that the call may end with, when the caller has gone or its deadline has passed. */
  readonly signal: AbortSignal;
  /** The time left until the deadline; undefined if there is none. */
  timeoutMs(): number | undefined;
  /** The rest of the caller's quota; undefined if callers are not identified. */
  readonly allowance: Allowance | undefined;
}

/** When the caller's time is over, on the monotonic clock; undefined if it has no deadline. */
export function deadlineOf(clock: Clock, context: CallContext): number | undefined {
  const leftMs = context.timeoutMs();
  return leftMs === undefined ? undefined : clock.monotonicMs() + leftMs;
}

/** IDs in one message of a stream if the caller gives no size. */
const chunkSizeDefault = 4096;
/** The most IDs of one message: 512 kB of them. With texts, a message of 1 MiB holds fewer. */
export const chunkSizeMax = 65_536;
/** The most IDs of one NextIds call. As JSON with texts, such an answer is below 1 MiB. */
export const nextCountMax = 10_000;

/** Draws the one ID of a call, which its quota has paid for already. @throws As {@link draw}. */
export function drawOne(options: IssueOptions, context: CallContext): ReservedIds | Promise<ReservedIds> {
  return draw(options, { count: 1, priority: "unary" }, context);
}

/**
 * Draws up to `count` IDs for a reservation, and fewer if the caller's quota is nearly used up.
 *
 * @throws As {@link draw}; IdError QUOTA_EXCEEDED.
 */
export function drawReservation(
  options: IssueOptions,
  count: number,
  context: CallContext,
): ReservedIds | Promise<ReservedIds> {
  return withinQuota(context, count, (taken) => draw(options, { count: taken, priority: "bulk" }, context));
}

/** Draws up to `count` IDs for a stream, as soon as the caller's quota has some. @throws As {@link draw}. */
export function drawChunk(
  options: IssueOptions,
  { count, risingSpan }: Pick<ReserveRequest, "count" | "risingSpan">,
  context: CallContext,
): ReservedIds | Promise<ReservedIds> {
  const drawn = (taken: number) => draw(options, { count: taken, priority: "bulk", risingSpan }, context);
  return whenQuotaAllows(context, count, drawn);
}

/**
 * Draws all of `count` IDs, ascending, for one answer: in one draw if that many are available, otherwise in several.
 *
 * @throws As {@link drawChunk}. Then the IDs of the earlier draws are a gap.
 */
export function drawList(options: IssueOptions, count: number, context: CallContext): DrawnIds | Promise<DrawnIds> {
  const first = drawChunk(options, { count, risingSpan: undefined }, context);
  return first instanceof Promise || first.count < count ? drawRest(options, first, count, context) : first;
}

async function drawRest(
  options: IssueOptions,
  first: ReservedIds | Promise<ReservedIds>,
  count: number,
  context: CallContext,
): Promise<DrawnIds> {
  let drawn = await first;
  const runs = [...drawn.runs];
  for (let left = count - drawn.count; left > 0; left -= drawn.count) {
    drawn = await drawChunk(options, { count: left, risingSpan: drawn.risingSpan }, context);
    runs.push(...drawn.runs);
  }
  return { runs, count };
}

/**
 * Takes up to `count` of the caller's quota, fewer if it is nearly used up, and draws as many.
 *
 * @throws IdError QUOTA_EXCEEDED; what `draw` throws, also as rejection.
 */
export function withinQuota<T extends { readonly count: number }>(
  { allowance }: CallContext,
  count: number,
  draw: (taken: number) => T | Promise<T>,
): T | Promise<T> {
  const taken = allowance?.takeIds(count) ?? count;
  return settled(allowance, taken, () => draw(taken));
}

/** As {@link withinQuota}, as soon as the caller's quota has some. */
export function whenQuotaAllows<T extends { readonly count: number }>(
  context: CallContext,
  count: number,
  draw: (taken: number) => T | Promise<T>,
): T | Promise<T> {
  const { allowance } = context;
  const drawn = (taken: number): T | Promise<T> => settled(allowance, taken, () => draw(taken));
  const taken = allowance?.awaitIds(count, context) ?? count;
  return typeof taken === "number" ? drawn(taken) : taken.then(drawn);
}

/** Hands out what was taken from a quota, and gives back to the quota what is not handed out. */
export function settled<T extends { readonly count: number }>(
  allowance: Allowance | undefined,
  taken: number,
  work: () => T | Promise<T>,
): T | Promise<T> {
  if (allowance === undefined) return work();
  const settle = (drawn: T): T => {
    allowance.noteIds(drawn.count);
    if (drawn.count < taken) allowance.giveBackIds(taken - drawn.count);
    return drawn;
  };
  const giveBack = (error: unknown): never => {
    allowance.giveBackIds(taken);
    throw error;
  };
  let drawn: T | Promise<T>;
  try {
    drawn = work();
  } catch (error) {
    return giveBack(error);
  }
  return drawn instanceof Promise ? drawn.then(settle, giveBack) : settle(drawn);
}

/**
 * Draws within the caller's deadline: at once and without a promise if there are IDs, otherwise with one.
 *
 * @throws As {@link IdSource.reserve}, also as rejection; the reason of the caller's signal when that ends the wait.
 */
function draw(
  { source, clock }: IssueOptions,
  request: Pick<ReserveRequest, "count" | "priority" | "risingSpan">,
  context: CallContext,
): ReservedIds | Promise<ReservedIds> {
  const drawn = source.reserve(new Draw(clock, request, context));
  return drawn instanceof Promise ? waited(drawn, context) : drawn;
}

async function waited(drawn: Promise<ReservedIds>, { signal }: CallContext): Promise<ReservedIds> {
  try {
    return await drawn;
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
}

/** Asks for deadline and signal only when the source does, because a call that does not wait needs neither. */
export class Draw implements ReserveRequest {
  readonly count: number;
  readonly priority: ReserveRequest["priority"];
  readonly risingSpan: number | undefined;
  readonly #clock: Clock;
  readonly #context: CallContext;

  constructor(clock: Clock, request: Pick<ReserveRequest, "count" | "priority" | "risingSpan">, context: CallContext) {
    this.count = request.count;
    this.priority = request.priority;
    this.risingSpan = request.risingSpan;
    this.#clock = clock;
    this.#context = context;
  }

  get deadlineMs(): number | undefined {
    return deadlineOf(this.#clock, this.#context);
  }

  get signal(): AbortSignal {
    return this.#context.signal;
  }
}

/** @throws RequestError COUNT_OUT_OF_RANGE. */
export function checkNextCount(count: number): void {
  checkCount("count", count, nextCountMax);
}

/** @throws RequestError COUNT_OUT_OF_RANGE. */
export function checkReserveCount({ source }: IssueOptions, count: number): void {
  checkCount("count", count, source.reserveCountMax);
}

/**
 * Returns the size of a batch's chunks.
 *
 * @throws RequestError COUNT_OUT_OF_RANGE.
 */
export function checkBatch(
  { batchCountMax }: Pick<IssueOptions, "batchCountMax">,
  count: bigint,
  chunkSize: number,
): number {
  checkCount("count", count, batchCountMax);
  const size = chunkSize || chunkSizeDefault;
  checkCount("chunk_size", size, chunkSizeMax);
  return size;
}

/** Checks that a count is from 1 to `max`, inclusive. @throws RequestError COUNT_OUT_OF_RANGE. */
export function checkCount(field: string, count: number | bigint, max: number): void {
  if (count >= 1 && count <= max) return;
  const metadata = { [field]: count, [`${field}_max`]: max };
  throw new RequestError("COUNT_OUT_OF_RANGE", field, `${field} is ${count}; it must be from 1 to ${max}.`, metadata);
}
