import type { MadeOnce } from "./made-once.ts";
import type { StoreLink } from "./store-link.ts";

/** How to connect to a database. */
export interface SqlDatabaseOptions {
  /** Longest time of a call, from its start to its answer, a connection included. */
  readonly callTimeoutMs: number;
  /** The password, if the URL names neither one nor a file with one. Never logged. */
  readonly password?: string | undefined;
}

/** What an operator does if a database has no connection left. */
export const moreConnections = "Raise max_connections, or put a pooler in front of it.";

/** The life of a database server in which a call was answered, and the server's clock at that moment. */
export interface ServerMoment {
  /** Unix time in milliseconds. */
  readonly clockMs: number;
  /**
   * When the server started, by its own clock: the same in every answer of one life. Unix time in milliseconds;
   * undefined if the server does not report it.
   */
  readonly startedMs: number | undefined;
  /**
   * Names the server, its history and one table, part by part; `system` is the server's data as a whole. They differ
   * after a restored dump, or if the table was created again. A part that the server does not report is absent.
   */
  readonly parts: Readonly<Record<string, string>>;
}

/** SQL expressions with which a statement itself can read in which life of the database it runs. */
export interface ServerExpressions {
  /** A text: {@link ServerMoment.parts} as store-identity.ts writes them. */
  readonly identity: string;
  /** The server's clock: Unix time in milliseconds. */
  readonly clockMs: string;
}

/**
 * A PostgreSQL or MySQL database that a URL names.
 *
 * It knows how to connect, but nothing about the data: both worker records and sequences use it.
 */
export interface SqlDatabase<Connection> {
  /**
   * Makes a link, which connects with its first call: to a server that takes writes, never to a standby.
   *
   * @param tables - The tables that the caller needs; several links to the same tables share one object. Absent: none.
   */
  link(tables?: MadeOnce<Connection>): StoreLink<Connection>;
  /** Asks the server for its moment; `table` is the table whose identity is included. */
  moment(connection: Connection, table: string): Promise<ServerMoment>;
  /** The same for a statement of the caller's own. */
  expressions(connection: Connection, table: string): ServerExpressions;
}
