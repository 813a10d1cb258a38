/** A hundred times what the largest scenario takes. */
const eventsMax = 5_000_000;
/** Steps between two events: looks at a clock and calls to the store. More than any moment of 64 processes takes. */
const stepsMax = 200_000;

/** True time, and what is to happen in it. Time moves only from one event to the next. */
export class EventQueue {
  #nowMs = 0;
  #order = 0;
  #eventsLeft = eventsMax;
  #stepsLeft = stepsMax;
  #failure: Error | undefined;
  readonly #heap: Event[] = [];

  /** True time: milliseconds since the simulation began. */
  get nowMs(): number {
    return this.#nowMs;
  }

  /** Grows with each call and each event: says what came before what. */
  nextOrder(): number {
    this.#order += 1;
    return this.#order;
  }

  /**
   * Counts a step that code under test takes between two events, so that what runs in a circle of promises ends.
   *
   * @throws Error after too many; {@link run} ends with it, too, whatever the code under test makes of it.
   */
  countStep(): void {
    this.#stepsLeft -= 1;
    if (this.#stepsLeft >= 0) return;
    const error = new Error(`More than ${stepsMax} steps in one moment: something runs in a circle.`);
    this.fail(error);
    throw error;
  }

  /** Ends {@link run} with an error, whatever the code under test makes of what it is thrown. */
  fail(error: Error): void {
    this.#failure ??= error;
  }

  /** @returns What cancels it. */
  at(timeMs: number, task: () => void): () => void {
    const event: Event = { timeMs: Math.max(timeMs, this.#nowMs), order: this.nextOrder(), task };
    this.#push(event);
    return () => {
      event.task = undefined;
    };
  }

  after(delayMs: number, task: () => void): () => void {
    return this.at(this.#nowMs + Math.max(delayMs, 0), task);
  }

  /** Lets everything up to `endMs` happen, in order; promises settle between two events. */
  async run(endMs: number): Promise<void> {
    for (let next = this.#heap[0]; next !== undefined && next.timeMs <= endMs; next = this.#heap[0]) {
      this.#pop();
      if (next.task === undefined) continue;
      this.#nowMs = next.timeMs;
      this.#eventsLeft -= 1;
      if (this.#eventsLeft < 0) throw new Error(`More than ${eventsMax} events: something runs in a circle.`);
      this.#stepsLeft = stepsMax;
      next.task();
      await settled();
      if (this.#failure !== undefined) throw this.#failure;
    }
    this.#nowMs = Math.max(this.#nowMs, endMs);
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let index = heap.push(event) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(event, heap[parent]!)) break;
      heap[index] = heap[parent]!;
      index = parent;
    }
    heap[index] = event;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1;
      if (!isBefore(heap[child]!, last)) break;
      heap[index] = heap[child]!;
      index = child;
    }
    heap[index] = last;
  }
}

interface Event {
  readonly timeMs: number;
  readonly order: number;
  /** undefined once it is cancelled. */
  task: (() => void) | undefined;
}

function isBefore(one: Event, other: Event): boolean {
  return one.timeMs < other.timeMs || (one.timeMs === other.timeMs && one.order < other.order);
}

/** Resolves when no promise is left that could settle without an event. */
export function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
