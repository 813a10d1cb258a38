import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../../src/clock/clock.ts";
import type { GrpcIdClient } from "./grpc-id-client.ts";
import { IssuedRuns } from "../worlds/issued-runs.ts";

/** A client of a server; undefined while there is no server. */
export type LoadTarget = GrpcIdClient | undefined;

/** How a load asks. */
export interface IdLoadOptions {
  /** Servers that are asked; read before each call, so they may be replaced. */
  readonly targets: () => readonly LoadTarget[];
  /** Callers that ask for one ID at a time. */
  readonly callerCount: number;
  /** Callers that take streams. */
  readonly streamCount: number;
  /** IDs of one stream, and of one message of it; 5,000 and 500 without it. */
  readonly stream?: { readonly idCount: number; readonly chunkSize: number };
  /** Between two requests of a caller. */
  readonly pauseMs: number;
  /** Deadline of one call. */
  readonly callTimeoutMs: number;
  /** How long a caller goes on asking the next server where one does not answer; 0: one call a request. */
  readonly requestTimeoutMs: number;
}

/** Before the next server is asked. */
const retryMs = 5;

/** Callers that ask for IDs all the time, and what they were given. The layout's sequence is in the lowest bits. */
export class IdLoad {
  /** The IDs that the callers were given. */
  readonly received = new IssuedRuns();
  requestCount = 0;
  /** Requests that came to nothing; see {@link IdLoadOptions.requestTimeoutMs}. Streams that were cut do not count. */
  failedCount = 0;
  answerCount = 0;
  /** Longest time in which not one request was answered. */
  longestGapMs = 0;
  /** The errors of the first failed requests, for people. */
  readonly failures: string[] = [];
  readonly #options: IdLoadOptions;
  readonly #callers: readonly Promise<void>[];
  #latenciesMs: number[] = [];
  #lastAnswerMs = systemClock.monotonicMs();
  #isEnding = false;

  constructor(options: IdLoadOptions) {
    this.#options = options;
    const { callerCount, streamCount } = options;
    const callers = Array.from({ length: callerCount }, (_, index) => this.#call(index));
    const readers = Array.from({ length: streamCount }, (_, index) => this.#read(index));
    this.#callers = [...callers, ...readers];
  }

  /** Ends when every caller has its answer. */
  async stop(): Promise<void> {
    this.#isEnding = true;
    await Promise.all(this.#callers);
  }

  /** Waits for that many more answers. */
  async untilAnswered(count: number, timeoutMs = 120_000): Promise<void> {
    const wanted = this.answerCount + count;
    const endMs = systemClock.monotonicMs() + timeoutMs;
    while (this.answerCount < wanted) {
      if (systemClock.monotonicMs() > endMs) {
        throw new Error(`${wanted - this.answerCount} of ${count} answers are missing after ${timeoutMs} ms`);
      }
      await sleep(5);
    }
  }

  /** The 99th percentile of how long a request took, since this was asked before. */
  takeP99Ms(): number {
    const sorted = this.#latenciesMs.toSorted((one, other) => one - other);
    this.#latenciesMs = [];
    return sorted[Math.floor(sorted.length * 0.99)] ?? 0;
  }

  async #call(index: number): Promise<void> {
    const { callTimeoutMs, pauseMs } = this.#options;
    for (let turn = index; !this.#isEnding; ) {
      const startMs = systemClock.monotonicMs();
      turn = await this.#request(turn, async (client) => {
        this.#note([await client.nextId(callTimeoutMs)]);
        this.#latenciesMs.push(systemClock.monotonicMs() - startMs);
      });
      turn += 1;
      if (pauseMs > 0) await sleep(pauseMs);
    }
  }

  async #read(index: number): Promise<void> {
    const { callTimeoutMs, pauseMs, stream } = this.#options;
    const { idCount, chunkSize } = stream ?? { idCount: 5_000, chunkSize: 500 };
    for (let turn = index; !this.#isEnding; ) {
      turn = await this.#request(turn, async (client) => {
        let hasBegun = false;
        try {
          const request = { count: BigInt(idCount), chunkSize };
          for await (const ids of client.batchNextIds(request, callTimeoutMs)) {
            this.#note(ids);
            hasBegun = true;
            if (pauseMs > 0) await sleep(pauseMs);
          }
        } catch (error) {
          // A stream that brought something has served; its reader asks for another.
          if (!hasBegun) throw error;
        }
      });
      turn += 1;
      await sleep(pauseMs * 10);
    }
  }

  /** Asks one server after another until one has answered or the time is up; returns whose turn it was. */
  async #request(first: number, ask: (client: NonNullable<LoadTarget>) => Promise<void>): Promise<number> {
    const { requestTimeoutMs, targets } = this.#options;
    this.requestCount += 1;
    const endMs = systemClock.monotonicMs() + requestTimeoutMs;
    for (let turn = first; ; turn += 1) {
      const all = targets();
      const client = all[turn % all.length];
      try {
        if (client === undefined) throw new Error("no server");
        await ask(client);
        return turn;
      } catch (error) {
        // The servers may be gone for good.
        if (this.#isEnding && requestTimeoutMs > 0) return turn;
        if (systemClock.monotonicMs() >= endMs) {
          this.failedCount += 1;
          if (this.failures.length < 5) this.failures.push(String(error));
          return turn;
        }
        await sleep(retryMs);
      }
    }
  }

  #note(ids: readonly bigint[]): void {
    const nowMs = systemClock.monotonicMs();
    this.longestGapMs = Math.max(this.longestGapMs, nowMs - this.#lastAnswerMs);
    this.#lastAnswerMs = nowMs;
    this.answerCount += 1;
    this.received.addIds(ids, 0);
  }
}
