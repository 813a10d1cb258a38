import type { Socket } from "node:net";
import type { Endpoint } from "./remote-url.ts";

/** The servers of a URL, and how to connect to them. */
export interface RouteParts<T> {
  /** At least one, in the order of the URL. */
  readonly servers: readonly Endpoint[];
  /**
   * Longest time of a call, from its start to its answer; including the time to connect, as long as connecting has
   * worked recently.
   */
  readonly callTimeoutMs: number;
  /** Longest time to connect, at this moment; for several servers of a cluster it is the total. */
  readonly connectTimeoutMs: () => number;
  /**
   * Connects to one of them, and destroys what it has begun when `signal` aborts. Calls `lost` when the connection ends
   * by itself, so that the next call makes another one instead of failing.
   */
  readonly connect: (server: Endpoint, signal: AbortSignal, lost: () => void) => Promise<T>;
  /** Gives up a connection at once, without waiting for the server. */
  readonly destroy: (connection: T) => void;
  /** Absent if a server notices by itself that a connection was given up. */
  readonly sessions?: Sessions<T>;
}

/** The sessions at a server, which continue with a statement after their connection was given up. */
export interface Sessions<T> {
  /** Asks the server to abandon what a connection is still doing. Never throws; ends within a few seconds. */
  readonly interrupt: (connection: T) => Promise<void>;
  /** The socket below a connection: the server closes it when the session is over. */
  readonly socketOf: (connection: T) => Socket;
}

/** Why a connection is given up: a call on it failed, or was not answered in time and may still be running. */
export type GivenUp = "failed" | "silent";

/** A connection for one call. */
export interface Taken<T> {
  readonly connection: T;
  /** Reports that the call was answered. */
  readonly worked: () => void;
}

/** Chooses the server for each call of a link. */
export interface Route<T> {
  /** Returns the connection for a call that begins at once. The caller may stop waiting for it at any moment. */
  take(): Promise<Taken<T>>;
  /** Reports that a call failed: on this connection, or while it waited for one. */
  giveUp(connection: T | undefined, why: GivenUp): void;
  /** Gives up all connections; {@link take} fails afterwards. */
  close(): void;
}
