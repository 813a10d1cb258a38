import type { Clock } from "../clock.ts";
import type { ClockVerdict, WorkerEvent } from "./worker-event.ts";

/** What the judge makes of the wall clock. Times are monotonic. */
export type ClockState =
  /** The wall clock is followed. */
  | { readonly kind: "following" }
  /** It stepped forward, and it is not yet known whether that was right: time goes on by the monotonic clock. */
  | { readonly kind: "judging"; readonly stepMs: number; readonly sinceMs: number }
  /** The store's clock says that the step was wrong: time still goes on by the monotonic clock. */
  | { readonly kind: "contradicted"; readonly stepMs: number; readonly sinceMs: number };

/** What a {@link ClockJudge} needs. */
export interface ClockJudgePorts {
  readonly clock: Clock;
  readonly uptimeMs: () => number | undefined;
  readonly report: (event: WorkerEvent) => void;
}

/** A step forward up to this is followed at once. */
const stepForwardMaxMs = 2_000;
/** A new time that nobody can confirm is followed once it has agreed with itself for so long. */
const agreementMs = 10_000;
/** How far readings may waver around a new time and still agree. */
const wobbleMaxMs = 500;
/** At most every so many milliseconds of wall time the monotonic clock is compared. */
const checkPeriodMs = 500;
/** Age of the anchor at which a fresh one is taken: slewing by NTP (0.05 %) makes 5 ms of it. */
const anchorAgeMaxMs = 10_000;
/** A wall clock that lost more than this against the monotonic one was stepped back, also where no reading fell. */
const lossMaxMs = 100;

/**
 * A wall clock that follows steps back at once (the rollback policy deals with them) and steps forward by more than 2 s
 * only when something confirms them: a mad step forward would burn worker IDs and put IDs into the future.
 *
 * While a step is undecided, time is the last good reading plus monotonic growth, so no request fails. Opinions, first
 * that answers: growth of uptime beyond the monotonic clock (the machine slept); the store's clock; 10 s of agreement
 * with itself.
 */
export class ClockJudge implements Clock {
  readonly #clock: Clock;
  readonly #ports: ClockJudgePorts;
  #anchor: { readonly wallMs: number; readonly monotonicMs: number; readonly uptimeMs: number | undefined };
  #state: ClockState = { kind: "following" };
  #lastMs: number;
  #checkAtMs: number;
  #stepsBack = 0;
  #stepsForward = 0;

  constructor(ports: ClockJudgePorts) {
    this.#clock = ports.clock;
    this.#ports = ports;
    this.#anchor = this.#takeAnchor(this.#clock.nowMs(), this.#clock.monotonicMs());
    this.#lastMs = this.#anchor.wallMs;
    this.#checkAtMs = this.#lastMs + checkPeriodMs;
  }

  get state(): ClockState {
    return this.#state;
  }

  /** Readings that fell below the one before, and losses against the monotonic clock. */
  get stepsBack(): number {
    return this.#stepsBack;
  }

  /** Steps forward by more than 2 s, whatever became of them. */
  get stepsForward(): number {
    return this.#stepsForward;
  }

  /** Unix milliseconds as judged. Falls only when the wall clock was stepped back. */
  nowMs(): number {
    const wallMs = this.#clock.nowMs();
    if (wallMs >= this.#lastMs && wallMs < this.#checkAtMs && this.#state.kind === "following") {
      this.#lastMs = wallMs;
      return wallMs;
    }
    return this.#check(wallMs);
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs();
  }

  /** Takes the store's clock as an opinion on a step that is not followed yet. Nothing happens while there is none. */
  offerStoreClock(storeMs: number): void {
    const nowMs = this.nowMs();
    if (this.#state.kind === "following") return;
    const wallMs = this.#clock.nowMs();
    const { stepMs, sinceMs } = this.#state;
    if (Math.abs(storeMs - wallMs) <= Math.abs(storeMs - nowMs)) {
      this.#follow(wallMs, stepMs, "confirmed");
    } else if (this.#state.kind === "judging") {
      this.#state = { kind: "contradicted", stepMs, sinceMs };
      this.#reportForward(stepMs, "contradicted");
    }
  }

  #check(wallMs: number): number {
    const monotonicMs = this.#clock.monotonicMs();
    const elapsedMs = monotonicMs - this.#anchor.monotonicMs;
    const expectedMs = Math.floor(this.#anchor.wallMs + elapsedMs);
    const gainMs = wallMs - expectedMs;
    if (gainMs > stepForwardMaxMs) return this.#onForward(wallMs, gainMs, expectedMs, monotonicMs);
    if (this.#state.kind !== "following") {
      this.#reportForward(this.#state.stepMs, "withdrawn");
      this.#state = { kind: "following" };
    }
    if (wallMs < this.#lastMs || gainMs < -lossMaxMs) {
      this.#stepsBack += 1;
      this.#ports.report({ kind: "clock-step-back", stepMs: Math.max(this.#lastMs - wallMs, -gainMs) });
      this.#anchor = this.#takeAnchor(wallMs, monotonicMs);
    } else if (elapsedMs >= anchorAgeMaxMs) {
      this.#anchor = this.#takeAnchor(wallMs, monotonicMs);
    }
    this.#lastMs = wallMs;
    this.#checkAtMs = wallMs + checkPeriodMs;
    return wallMs;
  }

  #onForward(wallMs: number, gainMs: number, expectedMs: number, monotonicMs: number): number {
    const state = this.#state;
    if (state.kind === "following") {
      this.#stepsForward += 1;
      if (this.#wasSuspended(gainMs, monotonicMs)) return this.#follow(wallMs, gainMs, "suspended");
      this.#state = { kind: "judging", stepMs: gainMs, sinceMs: monotonicMs };
      this.#reportForward(gainMs, "judging");
    } else if (Math.abs(gainMs - state.stepMs) > wobbleMaxMs) {
      // Another step on top: what was said of the one before does not hold for it.
      if (this.#wasSuspended(gainMs, monotonicMs)) return this.#follow(wallMs, gainMs, "suspended");
      this.#state = { kind: "judging", stepMs: gainMs, sinceMs: monotonicMs };
    } else if (state.kind === "judging" && monotonicMs - state.sinceMs >= agreementMs) {
      return this.#follow(wallMs, gainMs, "agreed");
    }
    // Drift since the anchor may have put the last reading a little above what the anchor gives: time stands until that
    // is past.
    this.#lastMs = Math.max(this.#lastMs, expectedMs);
    return this.#lastMs;
  }

  #wasSuspended(gainMs: number, monotonicMs: number): boolean {
    const uptimeMs = this.#ports.uptimeMs();
    if (uptimeMs === undefined || this.#anchor.uptimeMs === undefined) return false;
    const asleepMs = uptimeMs - this.#anchor.uptimeMs - (monotonicMs - this.#anchor.monotonicMs);
    return Math.abs(gainMs - asleepMs) <= stepForwardMaxMs;
  }

  #follow(wallMs: number, stepMs: number, verdict: ClockVerdict): number {
    this.#state = { kind: "following" };
    this.#anchor = this.#takeAnchor(wallMs, this.#clock.monotonicMs());
    this.#lastMs = wallMs;
    this.#checkAtMs = wallMs + checkPeriodMs;
    this.#reportForward(stepMs, verdict);
    return wallMs;
  }

  #takeAnchor(
    wallMs: number,
    monotonicMs: number,
  ): { wallMs: number; monotonicMs: number; uptimeMs: number | undefined } {
    return { wallMs, monotonicMs, uptimeMs: this.#ports.uptimeMs() };
  }

  #reportForward(stepMs: number, verdict: ClockVerdict): void {
    this.#ports.report({ kind: "clock-step-forward", stepMs, verdict });
  }
}
