/** Does one thing that takes long. Returns whether there was anything to do. Must not throw. */
export type QueuedTask = () => boolean;

/** The owner of a task: a connection of a network. */
export interface TaskOwner {
  readonly network: string;
  readonly connection: object;
}

/**
 * A fair queue: does one task in each turn of the event loop, with all that follows from the task by promises. Each
 * network has a line of its own, and each connection one within it. The lines of a level take turns: a caller with many
 * tasks keeps only its own connection waiting, and a network with many connections only itself. docs/adr/0108 says why
 * a call has a turn of its own.
 */
export class FairQueue {
  readonly #networks = new Rotation<string, Rotation<object, QueuedTask[]>>();
  #isPlanned = false;

  add({ network, connection }: TaskOwner, task: QueuedTask): void {
    const connections = this.#networks.of(network, () => new Rotation());
    connections.of(connection, () => []).push(task);
    this.#plan();
  }

  #plan(): void {
    if (this.#isPlanned || this.#networks.isEmpty) return;
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
    return this.#networks.turn((connections) => {
      const task = connections.turn((line) => ({ taken: line.shift(), isEmpty: line.length === 0 }));
      return { taken: task, isEmpty: connections.isEmpty };
    });
  }
}

/** Lines that take turns. None of them is empty; the first is next. */
class Rotation<Key, Line> {
  readonly #lines = new Map<Key, Line>();

  get isEmpty(): boolean {
    return this.#lines.size === 0;
  }

  /** Gives the line of a key, which is made where there is none. The caller puts something into it. */
  of(key: Key, make: () => Line): Line {
    let line = this.#lines.get(key);
    if (line === undefined) this.#lines.set(key, (line = make()));
    return line;
  }

  /** Takes from the line that is next, which then moves behind all others. */
  turn<T>(take: (line: Line) => { readonly taken: T | undefined; readonly isEmpty: boolean }): T | undefined {
    for (const [key, line] of this.#lines) {
      const { taken, isEmpty } = take(line);
      this.#lines.delete(key);
      if (!isEmpty) this.#lines.set(key, line);
      return taken;
    }
    return undefined;
  }
}
