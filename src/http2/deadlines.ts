/**
 * When a connection has waited long enough: RFC 9113 sections 5.4.1, 6.7, 9.1 and 10.5. Time comes as a parameter, in
 * milliseconds.
 */
import type { Limits } from "./limits.ts";

/** What is to be done about a connection. */
export type Verdict = "fine" | "ping" | "drain" | "handshakeTimeout" | "frameTimeout" | "drainTimeout" | "peerGone";

/**
 * What a connection is doing at the moment, and counters that tell whether it is still the same thing as at the last
 * look.
 */
export interface ConnectionActivity {
  /** Whether the client's first SETTINGS came. */
  readonly isSettled: boolean;
  readonly isDraining: boolean;
  readonly isIdle: boolean;
  readonly requestCount: number;
  /** Whether a frame has begun and not ended. */
  readonly isMidFrame: boolean;
  readonly frameCount: number;
  /** Whether a header block has begun and not ended. */
  readonly isMidBlock: boolean;
  readonly blockCount: number;
  /** Whether the socket takes nothing. */
  readonly isBlocked: boolean;
  readonly drainCount: number;
}

/** A time during which one thing went on without a break. */
class Spell {
  #sinceMs: number | undefined;
  #count = 0;

  /**
   * Returns for how long it has gone on, as far as the looks can tell; 0 if it does not, or if the counter moved since
   * the last look.
   */
  look(nowMs: number, goesOn: boolean, count: number): number {
    if (!goesOn || count !== this.#count) this.#sinceMs = undefined;
    this.#count = count;
    if (!goesOn) return 0;
    this.#sinceMs ??= nowMs;
    return nowMs - this.#sinceMs;
  }
}

/** The time limits of one connection. It acts on nothing: it tells. */
export class Deadlines {
  readonly #limits: Limits;
  readonly #openedMs: number;
  #receivedMs: number;
  #pingedMs: number | undefined;
  readonly #idle = new Spell();
  readonly #midFrame = new Spell();
  readonly #midBlock = new Spell();
  readonly #blocked = new Spell();
  readonly #draining = new Spell();

  constructor(limits: Limits, nowMs: number) {
    this.#limits = limits;
    this.#openedMs = nowMs;
    this.#receivedMs = nowMs;
  }

  /** Notes that bytes came. */
  onReceived(nowMs: number): void {
    this.#receivedMs = nowMs;
    this.#pingedMs = undefined;
  }

  /** Says what is to be done. Call it every second or so: a limit takes effect that much late, never early. */
  check(nowMs: number, activity: ConnectionActivity): Verdict {
    const limits = this.#limits;
    const idleMs = this.#idle.look(nowMs, activity.isIdle, activity.requestCount);
    const frameMs = this.#midFrame.look(nowMs, activity.isMidFrame, activity.frameCount);
    const blockMs = this.#midBlock.look(nowMs, activity.isMidBlock, activity.blockCount);
    const blockedMs = this.#blocked.look(nowMs, activity.isBlocked, activity.drainCount);
    const drainingMs = this.#draining.look(nowMs, activity.isDraining, 0);
    if (!activity.isSettled && nowMs - this.#openedMs >= limits.handshakeTimeoutMs) return "handshakeTimeout";
    if (frameMs >= limits.frameTimeoutMs || blockMs >= limits.frameTimeoutMs) return "frameTimeout";
    if (blockedMs >= limits.stallTimeoutMs) return "peerGone";
    if (this.#pingedMs !== undefined && nowMs - this.#pingedMs >= limits.keepAliveTimeoutMs) return "peerGone";
    if (drainingMs >= limits.drainTimeoutMs) return "drainTimeout";
    const isOld = nowMs - this.#openedMs >= limits.ageMaxMs;
    if (!activity.isDraining && (isOld || idleMs >= limits.idleTimeoutMs)) return "drain";
    const isSilent = nowMs - this.#receivedMs >= limits.keepAliveIntervalMs;
    // While the socket takes nothing a PING would not leave either.
    if (isSilent && this.#pingedMs === undefined && activity.isSettled && !activity.isBlocked) {
      this.#pingedMs = nowMs;
      return "ping";
    }
    return "fine";
  }
}
