/**
 * The time limits of a connection: RFC 9113 sections 5.4.1, 6.7, 9.1 and 10.5. Time is a parameter, in milliseconds.
 */
import type { Limits } from "./limits.ts";
import { spreadAge } from "./spread-age.ts";

/** The action that a connection must take. */
export type Verdict = "fine" | "ping" | "drain" | "handshakeTimeout" | "frameTimeout" | "drainTimeout" | "peerGone";

/**
 * The present state of a connection. The counters show whether a condition was interrupted since the last check: a
 * connection that is inside a frame at two checks may have received a thousand frames in between.
 */
export interface ConnectionActivity {
  /** Whether the client's first SETTINGS were received. */
  readonly hasPeerSettings: boolean;
  readonly isDraining: boolean;
  readonly isIdle: boolean;
  readonly requestCount: number;
  /** Whether a frame has begun but not ended. */
  readonly isMidFrame: boolean;
  readonly frameCount: number;
  /** Whether a header block has begun but not ended. */
  readonly isMidBlock: boolean;
  readonly blockCount: number;
  /** Whether the socket takes no bytes. */
  readonly isBlocked: boolean;
  readonly unblockedCount: number;
}

/** Measures how long a condition has held without interruption. */
class Duration {
  #sinceMs: number | undefined;
  #count = 0;

  /**
   * Returns how many milliseconds the condition has held, measured from the first call that saw it; 0 if it does not
   * hold. A `count` that differs from the last call's means that it was interrupted in between.
   */
  update(nowMs: number, holds: boolean, count: number): number {
    if (!holds || count !== this.#count) this.#sinceMs = undefined;
    this.#count = count;
    if (!holds) return 0;
    this.#sinceMs ??= nowMs;
    return nowMs - this.#sinceMs;
  }
}

/** Checks the time limits of one connection. It takes no action itself. */
export class Deadlines {
  readonly #limits: Limits;
  readonly #openedMs: number;
  readonly #ageMaxMs: number;
  #receivedMs: number;
  #pingedMs: number | undefined;
  readonly #idle = new Duration();
  readonly #midFrame = new Duration();
  readonly #midBlock = new Duration();
  readonly #blocked = new Duration();
  readonly #draining = new Duration();

  /** @param ageShare - See {@link spreadAge}. */
  constructor(limits: Limits, nowMs: number, ageShare?: number) {
    this.#limits = limits;
    this.#openedMs = nowMs;
    this.#ageMaxMs = spreadAge(limits.ageMaxMs, ageShare);
    this.#receivedMs = nowMs;
  }

  /** Notes that bytes were received. */
  onReceived(nowMs: number): void {
    this.#receivedMs = nowMs;
    this.#pingedMs = undefined;
  }

  /**
   * Returns the action to take. Call it about once a second: a limit then takes effect up to a second late, never
   * early.
   */
  check(nowMs: number, activity: ConnectionActivity): Verdict {
    const limits = this.#limits;
    const idleMs = this.#idle.update(nowMs, activity.isIdle, activity.requestCount);
    const frameMs = this.#midFrame.update(nowMs, activity.isMidFrame, activity.frameCount);
    const blockMs = this.#midBlock.update(nowMs, activity.isMidBlock, activity.blockCount);
    const blockedMs = this.#blocked.update(nowMs, activity.isBlocked, activity.unblockedCount);
    const drainingMs = this.#draining.update(nowMs, activity.isDraining, 0);
    if (!activity.hasPeerSettings && nowMs - this.#openedMs >= limits.handshakeTimeoutMs) return "handshakeTimeout";
    if (frameMs >= limits.frameTimeoutMs || blockMs >= limits.frameTimeoutMs) return "frameTimeout";
    if (blockedMs >= limits.stallTimeoutMs) return "peerGone";
    if (this.#pingedMs !== undefined && nowMs - this.#pingedMs >= limits.keepAliveTimeoutMs) return "peerGone";
    if (drainingMs >= limits.drainTimeoutMs) return "drainTimeout";
    const isOld = nowMs - this.#openedMs >= this.#ageMaxMs;
    if (!activity.isDraining && (isOld || idleMs >= limits.idleTimeoutMs)) return "drain";
    const isSilent = nowMs - this.#receivedMs >= limits.keepAliveIntervalMs;
    // While the socket takes no bytes, a PING would not leave either.
    if (isSilent && this.#pingedMs === undefined && activity.hasPeerSettings && !activity.isBlocked) {
      this.#pingedMs = nowMs;
      return "ping";
    }
    return "fine";
  }
}
