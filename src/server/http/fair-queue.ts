/** Does one thing that takes long. Returns whether there was anything to do. Must not throw. */
export type QueuedTask = () => boolean;

/**
 * A fair queue: does one task in each turn of the event loop, with all that follows from the task by promises. Each
 * owner has a line of its own, and the lines take turns: an owner with many tasks keeps only itself waiting.
 * docs/adr/0108 says why a call has a turn of its own.
 */
export class FairQueue {
  /** None of them empty; the first is next. */
  readonly #lines = new Map<object, QueuedTask[]>();
  #isPlanned = false;

  add(owner: object, task: QueuedTask): void {
    const line = this.#lines.get(owner);
    if (line === undefined) this.#lines.set(owner, [task]);
    else line.push(task);
    this.#plan();
  }

  #plan(): void {
    if (this.#isPlanned || this.#lines.size === 0) return;
    this.#isPlanned = true;
    // Node handles the events of sockets between two of these.
    setImmediate(() => {
      this.#isPlanned = false;
      // A task that nothing waits for any more takes no turn.
      while (this.#take()?.() === false);
      this.#plan();
    });
  }

  #take(): QueuedTask | undefined {
    for (const [owner, line] of this.#lines) {
      const task = line.shift();
      this.#lines.delete(owner);
      if (line.length > 0) this.#lines.set(owner, line);
      return task;
    }
    return undefined;
  }
}
