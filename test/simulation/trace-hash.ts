import type { EventQueue } from "./event-queue.ts";

/** A hash of all that happened and when: FNV-1a, 32 bits. Two runs of one seed must agree in it. */
export class TraceHash {
  readonly #queue: EventQueue;
  #hash = 0x811c9dc5;

  constructor(queue: EventQueue) {
    this.#queue = queue;
  }

  get text(): string {
    return (this.#hash >>> 0).toString(16).padStart(8, "0");
  }

  note(what: string, ...numbers: readonly number[]): void {
    for (let index = 0; index < what.length; index++) this.#add(what.charCodeAt(index));
    for (const number of numbers) {
      this.#add(number | 0);
      this.#add(Math.floor(number / 2 ** 32));
    }
    this.#add(Math.floor(this.#queue.nowMs * 16));
  }

  #add(value: number): void {
    this.#hash = Math.imul(this.#hash ^ value, 0x01000193);
  }
}
