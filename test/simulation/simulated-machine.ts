import type { EventQueue } from "./event-queue.ts";

/** A plausible date for true time 0, above the earliest that a start accepts. */
export const simulationStartMs = Date.UTC(2027, 5, 1);

/** The longest step that is followed at once: see clock-judge.ts. */
const stepForwardMaxMs = 2_000;
/** More than any drift of a simulation adds up to. */
const driftMaxMs = 100;

/** The clocks of one machine, and all that can go wrong with them. */
export class SimulatedMachine {
  readonly #queue: EventQueue;
  /** Wall time = true time + offset + drift since the last change. */
  #offsetMs: number;
  #driftPerMs = 0;
  #changedAtMs = 0;
  /** A wall clock that stands still shows this. */
  #stuckAtMs: number | undefined;
  /** True time that the monotonic clock, or the uptime, left out. */
  #monotonicLeftOutMs = 0;
  #uptimeLeftOutMs = 0;
  /** The furthest that the wall clock was ever ahead of true time. */
  aheadMaxMs = 0;
  /** Whether the wall clock ever lost time that a reader had seen, or may have: then timestamps may lead it by A. */
  hasRegressed = false;
  #backwardMs: number;
  /** Steps forward that a running process may not follow at once, and where its clock may be meanwhile. */
  readonly #doubtful: { readonly atMs: number; boundMs: number }[] = [];
  #suspendedAtMs = Number.NEGATIVE_INFINITY;

  constructor(queue: EventQueue, offsetMs: number) {
    this.#queue = queue;
    this.#offsetMs = offsetMs;
    this.#backwardMs = Math.max(0, -offsetMs) + driftMaxMs;
    this.#note();
  }

  /** Unix milliseconds of true time. */
  get trueMs(): number {
    return simulationStartMs + this.#queue.nowMs;
  }

  /**
   * All that the wall clock ever lost against true time, what it gained again not taken off: how far a careful reader
   * of it may be behind.
   */
  get backwardMs(): number {
    const lagMs = this.#stuckAtMs === undefined ? 0 : this.trueMs + this.#offset() - this.#stuckAtMs;
    return this.#backwardMs + Math.max(0, lagMs);
  }

  /** How far the wall clock is ahead of true time now. */
  get aheadMs(): number {
    return (this.#stuckAtMs ?? this.trueMs + this.#offset()) - this.trueMs;
  }

  nowMs(): number {
    this.#queue.countStep();
    this.#note();
    return Math.floor(this.#stuckAtMs ?? this.trueMs + this.#offset());
  }

  monotonicMs(): number {
    this.#queue.countStep();
    return 1_000_000 + this.#queue.nowMs - this.#monotonicLeftOutMs;
  }

  uptimeMs(): number {
    return 5_000_000 + this.#queue.nowMs - this.#uptimeLeftOutMs;
  }

  /**
   * The furthest that a process which runs since then may take its clock to be ahead of true time: a step forward of
   * more than 2 s is not followed for 10 s, unless the machine slept.
   *
   * @param sinceMs - True time, milliseconds since the start.
   */
  believedAheadMaxMs(sinceMs: number): number {
    const { nowMs } = this.#queue;
    const doubtful = this.#doubtful.find(({ atMs }) => atMs > sinceMs && nowMs < atMs + 10_000);
    const hasSlept = doubtful !== undefined && this.#suspendedAtMs > doubtful.atMs - 15_000;
    return doubtful === undefined || hasSlept ? this.aheadMaxMs : Math.min(this.aheadMaxMs, doubtful.boundMs);
  }

  step(byMs: number): void {
    this.#resolve();
    for (const doubtful of this.#doubtful) doubtful.boundMs += Math.max(0, Math.min(byMs, stepForwardMaxMs));
    // Of two wrong clocks the store's confirms the less wrong: only who was right before has a right to doubt.
    if (byMs > stepForwardMaxMs && Math.abs(this.aheadMs) < 1_000) {
      this.#doubtful.push({ atMs: this.#queue.nowMs, boundMs: this.aheadMaxMs + stepForwardMaxMs });
    }
    this.#offsetMs += byMs;
    this.#lose(-byMs);
    this.#note();
  }

  /** @param partsPerMillion - Above 0 = the wall clock runs fast. */
  drift(partsPerMillion: number): void {
    this.#resolve();
    this.#driftPerMs = partsPerMillion / 1_000_000;
  }

  /** The wall clock stands still until {@link unfreeze}, then shows again what it would have shown. */
  freeze(): void {
    this.#note();
    this.hasRegressed = true;
    this.#doubtful.length = 0;
    this.#stuckAtMs ??= this.trueMs + this.#offset();
  }

  unfreeze(): void {
    if (this.#stuckAtMs === undefined) return;
    this.#backwardMs += Math.max(0, this.trueMs + this.#offset() - this.#stuckAtMs);
    this.#stuckAtMs = undefined;
  }

  /**
   * The machine has slept for `lengthMs`, which have just passed: the monotonic clock left them out, wall clock and
   * uptime did not.
   */
  wakeFromSuspend(lengthMs: number): void {
    this.#suspendedAtMs = this.#queue.nowMs;
    this.#monotonicLeftOutMs += lengthMs;
    // While a step forward is being judged, time goes on by the monotonic clock.
    this.#lose(lengthMs);
  }

  /** A hypervisor has held the machine for `lengthMs`, which have just passed: no clock of its own counted them. */
  wakeUnseen(lengthMs: number): void {
    this.#resolve();
    this.#monotonicLeftOutMs += lengthMs;
    this.#uptimeLeftOutMs += lengthMs;
    this.#offsetMs -= lengthMs;
    this.#lose(lengthMs);
    this.#note();
  }

  /** A time service sets it right, by one step. */
  heal(): void {
    this.unfreeze();
    this.#lose(this.#offset());
    this.#offsetMs = 0;
    this.#driftPerMs = 0;
    this.#changedAtMs = this.#queue.nowMs;
  }

  #lose(lengthMs: number): void {
    if (lengthMs <= 0) return;
    if (lengthMs > 1_000) this.#doubtful.length = 0;
    this.#backwardMs += lengthMs;
    this.hasRegressed = true;
  }

  #offset(): number {
    return this.#offsetMs + (this.#queue.nowMs - this.#changedAtMs) * this.#driftPerMs;
  }

  #resolve(): void {
    this.#offsetMs = this.#offset();
    this.#changedAtMs = this.#queue.nowMs;
  }

  #note(): void {
    const shownMs = this.#stuckAtMs ?? this.trueMs + this.#offset();
    this.aheadMaxMs = Math.max(this.aheadMaxMs, shownMs - this.trueMs);
  }
}
