import type { Socket } from "node:net";
import type { Endpoint } from "./remote-url.ts";

/** How the servers of a URL are connected to. */
export interface RouteParts<T> {
  /** At least one, in the order of the URL. */
  readonly servers: readonly Endpoint[];
  /** Longest time of a call, from its start to its answer; a connection included, while others may have worked. */
  readonly callTimeoutMs: number;
  /** Longest time to connect, as it is now; over several servers of a cluster together. */
  readonly connectTimeoutMs: () => number;
  /**
   * Connects to one of them, and destroys what it has begun when `signal` aborts. Calls `lost` when the connection ends
   * by itself, so that the next call makes another one instead of failing.
   */
  readonly connect: (server: Endpoint, signal: AbortSignal, lost: () => void) => Promise<T>;
  /** Gives up a connection at once: never waits for the server. */
  readonly destroy: (connection: T) => void;
  /** Absent where a server notices by itself that a connection was given up. */
  readonly sessions?: Sessions<T>;
}

/** The sessions at a server, which go on with a statement after their connection was given up. */
export interface Sessions<T> {
  /** Tells the server to give up what a connection still does. Never throws; ends within some seconds. */
  readonly interrupt: (connection: T) => Promise<void>;
  /** The socket below a connection: the server closes it when the session is over. */
  readonly socketOf: (connection: T) => Socket;
}

/** Why a connection is given up: a call on it failed, or was not answered in time and may still be at work. */
export type GivenUp = "failed" | "silent";

/** A connection for one call. */
export interface Taken<T> {
  readonly connection: T;
  /** Says that the call was answered. */
  readonly worked: () => void;
}

/** Leads each call of a link to a server. */
export interface Route<T> {
  /** Gives the connection for a call that begins at once. The caller may stop waiting for it at any moment. */
  take(): Promise<Taken<T>>;
  /** Says that a call failed: on this connection, or while it waited for one. */
  giveUp(connection: T | undefined, why: GivenUp): void;
  /** Gives up all connections; what is taken afterwards fails. */
  close(): void;
}
