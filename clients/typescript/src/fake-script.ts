import { closedError, SnowlaneError, type SnowlaneReason, type StatusCode } from "./errors.ts";
import type { FakeClock } from "./fake-clock.ts";

/** A step that fails; made by {@link fail}. */
export interface Fault {
  readonly kind: "fault";
  readonly error: SnowlaneError;
}

/** A step that takes time; made by {@link delay}. */
export interface Pause {
  readonly kind: "pause";
  readonly ms: number;
}

/** Details of a fault, as the error shows them. */
export interface FaultDetails {
  /** Default: UNAVAILABLE. */
  readonly code?: StatusCode;
  /** After how many milliseconds a retry may help. Default: undefined. */
  readonly retryAfterMs?: number;
  /** Default: empty. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** A step that fails. The error is thrown unchanged: a fake never retries. */
export function fail(reason: SnowlaneReason, { code = "UNAVAILABLE", ...details }: FaultDetails = {}): Fault {
  return { kind: "fault", error: new SnowlaneError(reason, `The script says ${reason}.`, { code, ...details }) };
}

/** Lets `ms` pass on the clock before the step that follows. */
export function delay(ms: number): Pause {
  return { kind: "pause", ms };
}

/** The rest of a script: items, with faults and pauses between them. */
export class Script<Item> {
  readonly #clock: FakeClock;
  /** The steps that are left, the next one last. */
  readonly #steps: (Item | Fault | Pause)[];
  isClosed = false;

  constructor(steps: Iterable<Item | Fault | Pause>, clock: FakeClock) {
    this.#steps = [...steps].toReversed();
    this.#clock = clock;
  }

  /**
   * Takes the next item, after the pauses before it.
   *
   * @throws SnowlaneError The fault that is next; SCRIPT_ENDED, CANCELLED, CLIENT_CLOSED.
   */
  async next(signal: AbortSignal | undefined): Promise<Item> {
    for (;;) {
      if (this.isClosed) throw closedError("client");
      if (signal?.aborted) throw new SnowlaneError("CANCELLED", "The caller cancelled.", { code: "CANCELLED" });
      const step = this.#steps.pop();
      if (step === undefined) {
        const message = "The script has ended: the code under test takes more than it says.";
        throw new SnowlaneError("SCRIPT_ENDED", message, { code: "FAILED_PRECONDITION" });
      }
      if (!isInterlude(step)) return step;
      if (step.kind === "fault") throw step.error;
      await new Promise<void>((resolve) => void this.#clock.schedule(step.ms, resolve));
    }
  }

  /** Takes the next step if it is an item. */
  nextNow(): Item | undefined {
    const step = this.#steps.at(-1);
    if (step === undefined || isInterlude(step)) return undefined;
    this.#steps.pop();
    return step;
  }

  /** Gives back the rest of an item, to be the next one. */
  putBack(item: Item): void {
    this.#steps.push(item);
  }
}

function isInterlude(step: unknown): step is Fault | Pause {
  return typeof step === "object" && step !== null && "kind" in step;
}
