import type { Clock, Timers } from "../../clock/clock.ts";

/** The connections of this much time may be admitted at once, because callers connect in crowds. */
const burstMs = 500;
const lookMs = 1;
/**
 * How many are admitted in one look, or twice the rate if that is more: 500 at once would delay every call by 50 ms.
 */
const perLook = 4;

/** How many connections are admitted. */
export interface AdmissionLimits {
  /** Connections a second, at least 1. Half a second's worth may be admitted at once. */
  readonly perSecond: number;
  /** How many connections from one network may wait. */
  readonly queuedMax: number;
}

/**
 * Admits connections at a rate, by a token bucket. The others wait in a fair queue: each network has a queue of its
 * own, and the queues take turns, so that a crowd keeps only its own network waiting. A new connection costs more than
 * fifty calls do, over TLS a thousand, and a caller that is cut off connects again.
 *
 * docs/adr/0100, docs/adr/0101 and docs/adr/0108, which supersedes docs/adr/0102, have the reasons.
 */
export class Admission<Connection> {
  readonly #intervalMs: number;
  readonly #queuedMax: number;
  readonly #admit: (connection: Connection) => void;
  readonly #time: Clock & Timers;
  /** A queue for each network that has waiting connections; the first is next. */
  readonly #queues = new Map<string, Set<Connection>>();
  /** When the bucket will be full again. */
  #filledMs = 0;
  #lookedMs = -Infinity;
  #leftInLook = 0;
  #isPlanned = false;

  constructor(limits: AdmissionLimits, time: Clock & Timers, admit: (connection: Connection) => void) {
    const { perSecond, queuedMax } = limits;
    this.#intervalMs = 1_000 / perSecond;
    this.#queuedMax = queuedMax;
    this.#time = time;
    this.#admit = admit;
  }

  /** Admits a connection, now or later. Returns false if too many from its network wait. */
  request(connection: Connection, network: string): boolean {
    const queue = this.#queues.get(network);
    if (queue === undefined) this.#queues.set(network, new Set([connection]));
    else if (queue.size >= this.#queuedMax) return false;
    else queue.add(connection);
    if (!this.#isPlanned) this.#look();
    return true;
  }

  /** Takes a connection out of its queue, if it waits. */
  withdraw(connection: Connection, network: string): void {
    const queue = this.#queues.get(network);
    queue?.delete(connection);
    if (queue?.size === 0) this.#queues.delete(network);
  }

  /** Whether a connection waits. */
  get isCrowded(): boolean {
    return this.#queues.size > 0;
  }

  #look(): void {
    const nowMs = this.#time.monotonicMs();
    if (nowMs - this.#lookedMs >= lookMs) {
      this.#lookedMs = nowMs;
      this.#leftInLook = Math.max(perLook, Math.ceil((2 * lookMs) / this.#intervalMs));
    }
    for (const [network, queue] of this.#queues) {
      if (this.#leftInLook === 0) break;
      const filledMs = Math.max(this.#filledMs, nowMs) + this.#intervalMs;
      if (filledMs > nowMs + Math.max(burstMs, this.#intervalMs)) break;
      this.#filledMs = filledMs;
      this.#leftInLook--;
      const connection = queue.values().next().value as Connection;
      queue.delete(connection);
      this.#queues.delete(network);
      // Behind all other queues: that is the rotation, and the loop comes to it again.
      if (queue.size > 0) this.#queues.set(network, queue);
      this.#admit(connection);
    }
    if (this.#queues.size > 0) this.#planNext();
  }

  #planNext(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    this.#time.after(lookMs, () => {
      this.#isPlanned = false;
      this.#look();
    });
  }
}
