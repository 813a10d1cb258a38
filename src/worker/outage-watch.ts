import type { Grant } from "../lease/grant.ts";
import type { HolderPhase } from "./holder-phase.ts";
import type { ObservedStore } from "../lease/observed-store.ts";
import type { WorkerEvent } from "../lease/worker-event.ts";
import type { WorkerSettings } from "../lease/worker-settings.ts";

/** How often a lasting state is reported again. */
const againMs = 60_000;
/** An offset from the store's clock is reported from `fromMs` on, and again only after it was below `overMs`. */
const clockOffset = { fromMs: 2_000, overMs: 1_000 };

/** The state of a holder, as a heartbeat finds it. */
export interface HolderSight {
  readonly monotonicMs: number;
  readonly wallMs: number;
  readonly phase: HolderPhase;
  readonly grant: Pick<Grant, "untilMs"> | undefined;
  readonly store: Pick<ObservedStore, "problem" | "failingFromMs" | "clockMs">;
  readonly settings: Pick<WorkerSettings, "windowMs" | "renewalPeriodMs">;
}

/**
 * Reports once a minute what keeps a holder from its work, and once that half of its window is gone. Momentary events
 * are reported where they happen.
 */
export class OutageWatch {
  readonly #report: (event: WorkerEvent) => void;
  /** Monotonic times of the next report. */
  #failingAgainMs: number | undefined;
  #waiting: { readonly fromMs: number; againMs: number } | undefined;
  #isHalfGone = false;
  #isClockOff = false;

  constructor(report: (event: WorkerEvent) => void) {
    this.#report = report;
  }

  /** Looks at the holder, twice a second. */
  look(sight: HolderSight): void {
    this.#lookAtStore(sight);
    this.#lookAtWait(sight);
    this.#lookAtWindow(sight);
    this.#lookAtClock(sight);
  }

  #lookAtStore({ monotonicMs, grant, store: { problem, failingFromMs } }: HolderSight): void {
    if (problem === undefined || failingFromMs === undefined) {
      this.#failingAgainMs = undefined;
      return;
    }
    this.#failingAgainMs ??= failingFromMs + againMs;
    if (monotonicMs < this.#failingAgainMs) return;
    this.#failingAgainMs += againMs;
    const forMs = monotonicMs - failingFromMs;
    this.#report({ kind: "store-still-failing", error: problem, forMs, servesUntilMs: grant?.untilMs });
  }

  #lookAtWait({ monotonicMs, phase, store }: HolderSight): void {
    const detail = store.problem === undefined ? detailOf(phase) : undefined;
    if (detail === undefined) {
      this.#waiting = undefined;
      return;
    }
    this.#waiting ??= { fromMs: monotonicMs, againMs: monotonicMs + againMs };
    if (monotonicMs < this.#waiting.againMs) return;
    this.#waiting.againMs += againMs;
    this.#report({ kind: "still-waiting", detail, forMs: monotonicMs - this.#waiting.fromMs });
  }

  #lookAtWindow({ wallMs, grant, settings, store: { problem } }: HolderSight): void {
    if (grant === undefined) {
      this.#isHalfGone = false;
      return;
    }
    const { windowMs, renewalPeriodMs } = settings;
    const leftMs = grant.untilMs - wallMs;
    // If renewals are rare, more than half may be gone before the next one is due.
    const isHalfGone = leftMs < Math.min(windowMs / 2, windowMs - 1.5 * renewalPeriodMs);
    if (isHalfGone && !this.#isHalfGone) this.#report({ kind: "window-half-gone", leftMs, error: problem });
    this.#isHalfGone = isHalfGone;
  }

  #lookAtClock({ wallMs, store }: HolderSight): void {
    const storeMs = store.clockMs();
    if (storeMs === undefined) return;
    const aheadMs = wallMs - storeMs;
    const isClockOff = Math.abs(aheadMs) >= (this.#isClockOff ? clockOffset.overMs : clockOffset.fromMs);
    if (isClockOff && !this.#isClockOff) this.#report({ kind: "clock-offset", aheadMs });
    this.#isClockOff = isClockOff;
  }
}

/** What a holder without a worker ID waits for; undefined in every other phase. */
function detailOf(phase: HolderPhase): string | undefined {
  if (phase.kind === "waiting") {
    return `nothing can be granted before ${new Date(phase.untilMs).toISOString()}: ${phase.detail}`;
  }
  return phase.kind === "acquiring" ? phase.problem?.message : undefined;
}
