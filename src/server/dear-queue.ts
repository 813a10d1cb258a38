/** Does one thing that is dear; says whether there was anything to do. Must not throw. */
export type DearTask = () => boolean;

/**
 * Does dear tasks one in a turn of the event loop, with all that follows from each by promises. Tasks of one owner have
 * a line of their own, and the lines take turns: whoever asks for much keeps waiting nobody but himself.
 */
export class DearQueue {
  /** None of them empty; the first is next. */
  readonly #lines = new Map<object, DearTask[]>();
  #isPlanned = false;

  add(owner: object, task: DearTask): void {
    const line = this.#lines.get(owner);
    if (line === undefined) this.#lines.set(owner, [task]);
    else line.push(task);
    this.#plan();
  }

  #plan(): void {
    if (this.#isPlanned || this.#lines.size === 0) return;
    this.#isPlanned = true;
    // Events of sockets are looked at between two of these.
    setImmediate(() => {
      this.#isPlanned = false;
      // What nobody waits for any more takes no turn.
      while (this.#take()?.() === false);
      this.#plan();
    });
  }

  #take(): DearTask | undefined {
    for (const [owner, line] of this.#lines) {
      const task = line.shift();
      this.#lines.delete(owner);
      if (line.length > 0) this.#lines.set(owner, line);
      return task;
    }
    return undefined;
  }
}
