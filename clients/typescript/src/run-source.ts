import type { IdRun } from "../../../src/snowflake/run.ts";
import { invalidResponse } from "./errors.ts";
import { checkOptionKinds, kinds, type OptionKinds } from "./known-options.ts";

export type { IdRun };

/** The source that a PrefetchBuffer draws from. */
export interface RunSource {
  /**
   * Reserves 1 to `count` IDs, as runs in the order in which to use them. They belong to the caller, used or not; no ID
   * is ever returned twice.
   *
   * @throws SnowlaneError.
   */
  reserve(count: number, options?: CallOptions): Promise<readonly IdRun[]>;
}

/** Options of one call. */
export interface CallOptions {
  /** Cancels the call; the error is CANCELLED. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Deadline, in milliseconds from now; 0 or less has already passed, and Infinity counts as 2^31 - 1. Default: that of
   * the client.
   */
  readonly timeoutMs?: number | undefined;
}

/** Options of one stream. */
export interface StreamOptions extends CallOptions {
  /**
   * Deadline of the whole stream, in milliseconds from now. Default: none; the client's `timeoutMs` then bounds the
   * wait for each chunk.
   */
  readonly timeoutMs?: number;
  /** The most IDs or values of one chunk, 1 to 65,536; 0, the default, leaves it to the server. */
  readonly chunkSize?: number;
  /** True: a stream that breaks is not continued by another, so that all its IDs or values ascend. */
  readonly ordered?: boolean;
}

/** What the options of a call must be. */
export const callOptionKinds: OptionKinds<CallOptions> = { timeoutMs: kinds.milliseconds, signal: kinds.signal };

/** What the options of a stream must be. */
export const streamOptionKinds: OptionKinds<StreamOptions> = {
  ...callOptionKinds,
  chunkSize: kinds.checkedElsewhere,
  ordered: kinds.flag,
};

/** Refuses options of a call that are unknown or not what they must be. @throws TypeError. */
export function checkCallOptions(options: CallOptions | undefined): void {
  if (options !== undefined) checkOptionKinds(options, callOptionKinds);
}

/** The IDs that are accepted from a server. A message without an ID reads as 0, which is refused. */
export const idRangeOfServers = { min: 1n, max: (1n << 63n) - 1n } as const;

/**
 * Counts the IDs of an answer, and checks its rules: at least one run; counts and strides of at least 1; no ID of 0, or
 * at or above 2^63; no two runs that overlap; at most `askedCount` IDs in all.
 *
 * @throws SnowlaneError INVALID_RESPONSE: the answer must be dropped whole.
 */
export function countOfAnswer(runs: readonly IdRun[], askedCount: number): number {
  let sum = 0;
  let lastId = idRangeOfServers.min - 1n;
  for (const { firstId, count, stride } of runs.toSorted((a, b) => (a.firstId < b.firstId ? -1 : 1))) {
    const isSound = Number.isSafeInteger(count) && count >= 1 && stride >= 1n && firstId > lastId;
    if (isSound) lastId = firstId + BigInt(count - 1) * stride;
    if (!isSound || lastId > idRangeOfServers.max) {
      const metadata = { first_id: String(firstId), count: String(count), stride: String(stride) };
      throw invalidResponse("The server sent an impossible run.", metadata);
    }
    sum += count;
  }
  if (sum >= 1 && sum <= askedCount) return sum;
  const metadata = { count: String(sum), asked_count: String(askedCount) };
  throw invalidResponse(`The server sent ${sum} IDs where 1 to ${askedCount} were asked for.`, metadata);
}
