import type { Socket } from "node:net";
import type { Sessions } from "./route.ts";

/** Connections of one line to one server at any moment: the one in use, and sessions that were given up. */
const connectionsMax = 3;
/** After this time a session is assumed to be gone, because its server or the network to it is gone. */
const silenceMaxMs = 300_000;

/**
 * Sessions that were given up while they were busy.
 *
 * A server does not notice a closed socket while its session waits for a lock or for a standby, so the session stays,
 * and counts against the server's limit of connections. So each is interrupted, and counted until the server has closed
 * its socket. An interruption needs a connection as well, so they are made one at a time.
 */
export class LeftSessions<T> {
  readonly #sessions: Sessions<T>;
  readonly #sockets = new Set<Socket>();
  #interrupting = 0;
  #lastInterrupt: Promise<void> = Promise.resolve();

  constructor(sessions: Sessions<T>) {
    this.#sessions = sessions;
  }

  /** Takes over a connection that is no longer used. */
  add(connection: T): void {
    const socket = this.#sessions.socketOf(connection);
    if (socket.destroyed) return;
    this.#sockets.add(socket);
    // Nothing here delays the end of the process.
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
        // The session reads the end of the stream when it is no longer busy, and closes the socket.
        socket.end().resume();
      });
  }

  /** @throws Error if there is no room for another connection. */
  check(): void {
    const taken = this.#sockets.size + Math.min(this.#interrupting, 1);
    if (taken < connectionsMax) return;
    const count = this.#sockets.size;
    throw new Error(
      `${count} sessions that gave no answer are still open on it, so no other is opened: check what they wait for`,
    );
  }

  /** Gives up all sessions at once. */
  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
