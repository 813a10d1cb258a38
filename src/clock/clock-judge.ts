import type { Clock } from "./clock.ts";

/** The outcome of a forward step of the wall clock. */
export type ClockVerdict =
  /** The step was seen; time goes on by the monotonic clock until it is decided. */
  | "judging"
  /** The machine slept: uptime grew by as much. */
  | "suspended"
  /** The store's clock says the same. */
  | "confirmed"
  /** No other clock could be asked; the new time has agreed with itself long enough. */
  | "agreed"
  /** The store's clock disagrees: the step is not followed. */
  | "contradicted"
  /** The wall clock went back to where it should be. */
  | "withdrawn";

/** A step of the wall clock, as a {@link ClockJudge} reports it. */
export type ClockEvent =
  | { readonly kind: "clock-step-back"; readonly stepMs: number }
  | { readonly kind: "clock-step-forward"; readonly stepMs: number; readonly verdict: ClockVerdict };

/** The judge's state of the wall clock. Times are monotonic. */
export type ClockState =
  /** The wall clock is followed. */
  | { readonly kind: "following" }
  /** It stepped forward, and it is not yet known whether that was right: time goes on by the monotonic clock. */
  | { readonly kind: "judging"; readonly stepMs: number; readonly sinceMs: number }
  /** The store's clock says that the step was wrong: time still goes on by the monotonic clock. */
  | { readonly kind: "contradicted"; readonly stepMs: number; readonly sinceMs: number };

/** The clocks that a {@link ClockJudge} compares, and where it reports steps. */
export interface ClockJudgePorts {
  /** The wall clock that is judged, and the monotonic clock beside it. */
  readonly clock: Clock;
  /** How long the machine has run, sleep included; undefined where it does not say. See systemUptimeMs in clock.ts. */
  readonly uptimeMs: () => number | undefined;
  /** Called once for each step of the wall clock. */
  readonly report: (event: ClockEvent) => void;
}

/** A step forward up to this is followed at once. */
const stepForwardMaxMs = 2_000;
/** A new time that no other clock can confirm is followed once it has agreed with itself for this long. */
const agreementMs = 10_000;
/** How far readings may waver around a new time and still agree. */
const wobbleMaxMs = 500;
/** The monotonic clock is compared at most once in this many milliseconds of wall time. */
const checkPeriodMs = 500;
/** Age of the anchor at which a fresh one is taken: slewing by NTP (0.05 %) makes 5 ms of it. */
const anchorAgeMaxMs = 10_000;
/** A wall clock that lost more than this against the monotonic one was stepped back, even where no reading fell. */
const lossMaxMs = 100;

/**
 * A wall clock that follows steps back at once (the rollback policy deals with them) and steps forward by more than 2 s
 * only when something confirms them: a wrong step forward would make worker IDs unusable and put IDs into the future.
 *
 * While a step is undecided, time is the last good reading plus monotonic growth, so no request fails. The first
 * opinion that answers decides: growth of uptime beyond the monotonic clock (the machine slept); the store's clock; 10
 * s of agreement with itself.
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

  /** Steps forward by more than 2 s, whatever their outcome. */
  get stepsForward(): number {
    return this.#stepsForward;
  }

  /** Unix milliseconds as judged. Falls only when the wall clock was stepped back. */
  nowMs(): number {
    const wallMs = this.#clock.nowMs();
    if (this.#state.kind === "following") {
      // Most calls end here: a busy process reads the clock thousands of times in a millisecond, and storing the
      // reading takes time.
      if (wallMs === this.#lastMs) return wallMs;
      if (wallMs > this.#lastMs && wallMs < this.#checkAtMs) {
        this.#lastMs = wallMs;
        return wallMs;
      }
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
      // This is another step: an opinion on the one before does not count for it.
      if (this.#wasSuspended(gainMs, monotonicMs)) return this.#follow(wallMs, gainMs, "suspended");
      this.#state = { kind: "judging", stepMs: gainMs, sinceMs: monotonicMs };
    } else if (state.kind === "judging" && monotonicMs - state.sinceMs >= agreementMs) {
      return this.#follow(wallMs, gainMs, "agreed");
    }
    // Drift since the anchor may have put the last reading a little above the anchor's time. Then time stands still
    // until the anchor's time has caught up.
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
