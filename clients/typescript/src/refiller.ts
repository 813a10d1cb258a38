import { Answer, cutRuns } from "./answer.ts";
import { refillBackoffMs } from "./backoff.ts";
import type { Clock } from "./clock.ts";
import { SnowlaneError } from "./errors.ts";
import { Moment } from "./moment.ts";
import { notify, type ClientObserver } from "./observer.ts";
import type { OutagePolicy } from "./outage-policy.ts";
import type { Handed, RefillPolicy } from "./refill-policy.ts";
import { countOfAnswer, type IdRun, type RunSource } from "./run-source.ts";
import { FailingSpell, type States } from "./states.ts";
import type { Stock } from "./stock.ts";
import type { Waiters } from "./waiters.ts";

/** The source of a refill, the parts that it works for, and the policies that decide how much it asks for. */
export interface RefillerOptions {
  /** Reserves the IDs. */
  readonly source: RunSource;
  readonly clock: Clock;
  /** From 0 to below 1; for the jitter of back-off. */
  readonly random: () => number;
  /** Called with each refill and each failure. */
  readonly observer: ClientObserver;
  /** Informed when refills begin to fail, and when they work again. */
  readonly states: States;
  /** Decides how much to ask for. */
  readonly policy: RefillPolicy;
  /** Undefined: no reserve is kept for an outage. */
  readonly outage: OutagePolicy | undefined;
  /** Gets the answers. */
  readonly stock: Stock;
  /** The callers that found no stock; they are served first. */
  readonly waiters: Waiters;
  /** The maximum age of an ID's reservation when the ID is handed out, in milliseconds. */
  readonly maxAgeMs: number;
}

/** How often the reserve for an outage is checked. */
const topUpMs = 1_000;

/** The purpose of a reservation: the working stock, or the reserve for an outage. */
type Purpose = "working stock" | "reserve";

/** A reservation on its way. */
interface Asked {
  readonly purpose: Purpose;
  readonly count: number;
  /** The time before the first attempt to get it: none of its IDs can be older. */
  readonly asked: Moment;
  /** How many IDs a piece of the reserve has. */
  readonly pieceSize: number;
}

/** Fills the stock of a buffer: one reservation at a time, with a back-off after one that failed. */
export class Refiller {
  readonly #options: RefillerOptions;
  readonly #abort = new AbortController();
  #isRefilling = false;
  /** Set while the buffer waits after a failure. */
  #cancelRetry: (() => void) | undefined;
  /** Set while the reserve for an outage is checked every second. */
  #cancelTopUp: (() => void) | undefined;
  #failuresInRow = 0;
  #lastFailure: SnowlaneError | undefined;
  #refillCount = 0;
  #failureCount = 0;
  readonly #spell = new FailingSpell();

  constructor(options: RefillerOptions) {
    this.#options = options;
  }

  get isClosed(): boolean {
    return this.#abort.signal.aborted;
  }

  /** Why the last reservation failed; undefined if it succeeded. */
  get lastFailure(): SnowlaneError | undefined {
    return this.#lastFailure;
  }

  /** Answers that were taken into stock. */
  get refillCount(): number {
    return this.#refillCount;
  }

  /** Reservations that failed, or whose answer was refused or too late. */
  get failureCount(): number {
    return this.#failureCount;
  }

  /** Asks for the next answer, unless one is on its way or spare, or the last failure is too recent. */
  ask(): void {
    if (!this.#isFree) return;
    if (this.#options.outage !== undefined && this.#cancelTopUp === undefined) this.#scheduleTopUp();
    if (!this.#options.stock.hasSpare) void this.#reserve("working stock");
  }

  /** Ends the reservation on its way, and makes no other. */
  close(): void {
    this.#abort.abort();
    this.#cancelRetry?.();
    this.#cancelTopUp?.();
  }

  get #isFree(): boolean {
    return !this.#isRefilling && this.#cancelRetry === undefined && !this.isClosed;
  }

  /** Asks for IDs and accepts the answer, unless nothing is due. */
  async #reserve(purpose: Purpose): Promise<void> {
    const { source, clock, observer, policy, states } = this.#options;
    const pieceSize = policy.secondCount;
    const missingCount = purpose === "reserve" ? this.#missingCount(pieceSize) : undefined;
    if (missingCount === 0) return;
    this.#isRefilling = true;
    policy.noteHandedOut(this.#handedOut);
    const count = missingCount ?? policy.reserveCount;
    const ratePerSecond = policy.ratePerSecond;
    const startedMs = clock.monotonicMs();
    const asked = new Moment(clock);
    let outcome: readonly IdRun[] | SnowlaneError;
    try {
      outcome = await source.reserve(count, { signal: this.#abort.signal });
    } catch (error) {
      outcome = SnowlaneError.from(error);
    }
    this.#isRefilling = false;
    if (this.isClosed) return;
    const durationMs = clock.monotonicMs() - startedMs;
    if (!(outcome instanceof SnowlaneError)) outcome = this.#accept(outcome, { purpose, count, asked, pieceSize });
    const event = { asked: count, durationMs, ratePerSecond };
    if (outcome instanceof SnowlaneError) {
      const { reason } = outcome;
      this.#fail(outcome);
      notify(() => observer.onRefill?.({ ...event, received: 0, reason }));
      if (this.#spell.failed(startedMs, clock.monotonicMs(), this.#failuresInRow))
        states.tell({ state: "failing", reason, ...(outcome.endpoint && { endpoint: outcome.endpoint }) });
      return;
    }
    const received = outcome.reduce((sum, run) => sum + run.count, 0);
    policy.noteRoundTrip(durationMs);
    this.#serve();
    notify(() => observer.onRefill?.({ ...event, received }));
    const failedMs = this.#spell.worked(clock.monotonicMs());
    if (failedMs !== undefined) states.tell({ state: "working", durationMs: failedMs });
  }

  /** IDs that the reserve lacks, as many as one request may ask for. */
  #missingCount(pieceSize: number): number {
    const { outage, stock } = this.#options;
    return outage?.reserveCount(stock.reserveState(outage.youngMs), pieceSize) ?? 0;
  }

  /**
   * Takes an answer into stock, or drops it whole. docs/adr/0094 says why its age counts from before the first attempt.
   */
  #accept(
    runs: readonly IdRun[],
    { purpose, count: askedCount, asked, pieceSize }: Asked,
  ): readonly IdRun[] | SnowlaneError {
    const { stock, maxAgeMs } = this.#options;
    const leftMs = maxAgeMs - asked.elapsedMs();
    if (leftMs <= 0) {
      const message = `A reservation took longer than the ${maxAgeMs} ms for which its IDs may be used.`;
      return new SnowlaneError("DEADLINE_EXCEEDED", message, { code: "DEADLINE_EXCEEDED" });
    }
    try {
      countOfAnswer(runs, askedCount);
    } catch (error) {
      return SnowlaneError.from(error);
    }
    this.#refillCount++;
    this.#failuresInRow = 0;
    this.#lastFailure = undefined;
    if (purpose === "working stock") stock.add(this.#answerOf(runs, asked, leftMs));
    // It is cut before any caller can claim from it, so no ID is ever put back.
    else stock.addReserve(cutRuns(runs, pieceSize).map((piece) => this.#answerOf(piece, asked, leftMs)));
    return runs;
  }

  #answerOf(runs: readonly IdRun[], asked: Moment, leftMs: number): Answer {
    const { clock, maxAgeMs } = this.#options;
    const answer = new Answer(runs, { asked, maxAgeMs });
    answer.cancelExpiry = clock.schedule(leftMs, () => this.expire(answer), "lets it end");
    return answer;
  }

  /**
   * Serves the callers that wait. If the working stock ran low while an answer for the reserve was on its way, asks for
   * the working stock now.
   */
  #serve(): void {
    const { stock, waiters } = this.#options;
    waiters.serve(stock);
    if (stock.isLow) this.ask();
  }

  /** Drops an answer whose IDs are too old. */
  expire(answer: Answer): void {
    const { stock, policy } = this.#options;
    stock.drop(answer);
    // If none of its IDs was claimed, no caller needs the next answer: the next caller wakes the buffer.
    if (answer.inUseFromMs !== undefined && !stock.hasSpare) this.ask();
    else if (stock.count === 0) policy.forget();
    else policy.noteHandedOut(this.#handedOut);
  }

  #fail(error: SnowlaneError): void {
    const { clock, random, waiters } = this.#options;
    this.#failureCount++;
    this.#failuresInRow++;
    this.#lastFailure = error;
    if (!error.passes()) waiters.rejectAll(error);
    const delayMs = refillBackoffMs(this.#failuresInRow, error, random);
    this.#cancelRetry = clock.schedule(delayMs, () => this.#retry(), "lets it end");
  }

  #retry(): void {
    const { stock, waiters } = this.#options;
    this.#cancelRetry = undefined;
    if (waiters.count > 0 || stock.isLow) this.ask();
  }

  /** Checks the reserve for an outage once a second, while there is stock or a caller waits. */
  #scheduleTopUp(): void {
    const { clock, outage, stock, waiters } = this.#options;
    outage?.noteHandedOut(this.#handedOut);
    const look = (): void => {
      this.#cancelTopUp = undefined;
      if (stock.count === 0 && waiters.count === 0 && !this.#isRefilling) {
        outage?.forget();
        return;
      }
      this.#scheduleTopUp();
      if (this.#isFree) void this.#reserve("reserve");
    };
    this.#cancelTopUp = clock.schedule(topUpMs, look, "lets it end");
  }

  get #handedOut(): Handed {
    const { clock, stock } = this.#options;
    return { atMs: clock.monotonicMs(), count: stock.handedOutCount };
  }
}
