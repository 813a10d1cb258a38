import type { Socket } from "node:net";
import type { Sessions } from "./route.ts";

/** Connections of one line to one server at any moment: one that is used, and sessions that were given up. */
const connectionsMax = 3;
/** After so long a session is taken to be gone, with its server or with the network to it. */
const silenceMaxMs = 300_000;

/**
 * Sessions that were given up while they were at work.
 *
 * A server does not notice a closed socket while its session waits for a lock or for a standby, so the session stays,
 * and counts against the server's limit of connections. So each is interrupted, and counted until the server has closed
 * its socket. Interrupting takes a connection, too, so it is done one at a time.
 */
export class LeftSessions<T> {
  readonly #sessions: Sessions<T>;
  readonly #sockets = new Set<Socket>();
  #interrupting = 0;
  #lastInterrupt: Promise<void> = Promise.resolve();

  constructor(sessions: Sessions<T>) {
    this.#sessions = sessions;
  }

  /** Takes over a connection that is not used any more. */
  add(connection: T): void {
    const socket = this.#sessions.socketOf(connection);
    if (socket.destroyed) return;
    this.#sockets.add(socket);
    // Nothing here holds up the end of the process.
    const giveUp = setTimeout(() => socket.destroy(), silenceMaxMs).unref();
    socket.unref().once("close", () => {
      clearTimeout(giveUp);
      this.#sockets.delete(socket);
    });
    this.#interrupting += 1;
    this.#lastInterrupt = this.#lastInterrupt
      .then(() => (socket.destroyed ? undefined : this.#sessions.interrupt(connection)))
      .finally(() => {
        this.#interrupting -= 1;
        // The session reads the end when it has nothing more to do, and closes the socket.
        socket.end().resume();
      });
  }

  /** @throws Error if there is no room for another connection. */
  check(): void {
    const taken = this.#sockets.size + Math.min(this.#interrupting, 1);
    if (taken < connectionsMax) return;
    const count = this.#sockets.size;
    throw new Error(
      `${count} sessions that gave no answer are still open on it, so no other is opened: look what they wait for`,
    );
  }

  /** Gives up all of them at once. */
  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
