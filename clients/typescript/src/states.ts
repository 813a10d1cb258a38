import type { Clock } from "./clock.ts";
import { notify, type ClientObserver, type ClientState, type StateEvent } from "./observer.ts";

/** A logger: `console`, and those of pino and winston. */
export interface ClientLogger {
  info(line: string): void;
  warn(line: string): void;
  error(line: string): void;
}

/** The shortest time between two lines of one kind in a log. */
const logPauseMs = 60_000;

/** The text and the level of the log line for each state. */
const lines: Readonly<Record<ClientState, { readonly level: keyof ClientLogger; readonly text: string }>> = {
  failing: { level: "warn", text: "refills fail" },
  working: { level: "info", text: "refills work again" },
  moved: { level: "info", text: "another endpoint is in use" },
  replaced: { level: "info", text: "a connection that answered nothing is replaced" },
  mismatch: { level: "error", text: "a server is of another deployment, and its answer was dropped" },
};

/** Reports the state of a client or a buffer to the observer and the log. */
export class States {
  readonly #clock: Clock;
  readonly #observer: ClientObserver;
  readonly #logger: ClientLogger | undefined;
  readonly #loggedAtMs = new Map<ClientState, number>();

  /** @param logger - Undefined: there is no log. */
  constructor(clock: Clock, observer: ClientObserver, logger: ClientLogger | undefined) {
    this.#clock = clock;
    this.#observer = observer;
    this.#logger = logger;
  }

  tell(event: StateEvent): void {
    const { state, reason, endpoint, durationMs } = event;
    notify(() => this.#observer.onState?.(event));
    const nowMs = this.#clock.monotonicMs();
    if (this.#logger === undefined || nowMs - (this.#loggedAtMs.get(state) ?? -Infinity) < logPauseMs) return;
    this.#loggedAtMs.set(state, nowMs);
    const { level, text } = lines[state];
    const details = [
      ...(reason === undefined ? [] : [`reason=${reason}`]),
      ...(endpoint === undefined ? [] : [`endpoint=${endpoint}`]),
      ...(durationMs === undefined ? [] : [`durationMs=${Math.round(durationMs)}`]),
    ];
    notify(() => this.#logger?.[level]([`snowlane: ${text}`, ...details].join(" ")));
  }
}

/** Refills count as failing once this many in a row have failed, */
const failuresMin = 3;
/** or have failed for this long. */
const failingMinMs = 1_000;

/** How long refills have failed in a row. */
export class FailingSpell {
  #sinceMs: number | undefined;
  #isTold = false;

  /**
   * Records that a refill failed.
   *
   * @param askedMs - When it was sent.
   * @returns Whether to report it, which is once a spell.
   */
  failed(askedMs: number, nowMs: number, failuresInRow: number): boolean {
    this.#sinceMs ??= askedMs;
    if (this.#isTold || (failuresInRow < failuresMin && nowMs - this.#sinceMs < failingMinMs)) return false;
    this.#isTold = true;
    return true;
  }

  /** Records that a refill succeeded. @returns How long refills had failed; undefined if that was never reported. */
  worked(nowMs: number): number | undefined {
    const durationMs = this.#isTold && this.#sinceMs !== undefined ? nowMs - this.#sinceMs : undefined;
    this.#sinceMs = undefined;
    this.#isTold = false;
    return durationMs;
  }
}
