import type { MadeOnce } from "./made-once.ts";
import type { StoreLink } from "./store-link.ts";

/** How a database is connected to. */
export interface SqlDatabaseOptions {
  /** Longest time of a call, from its start to its answer, a connection included. */
  readonly callTimeoutMs: number;
  /** For a URL that names neither a password nor a file with one. Never logged. */
  readonly password?: string | undefined;
}

/** What an operator does where a database has no connection left. */
export const moreConnections = "Raise max_connections, or put a pooler between.";

/** The life of a database server in which a call was answered, and the server's clock then. */
export interface ServerMoment {
  /** Unix time in milliseconds. */
  readonly clockMs: number;
  /**
   * When the server started, by its own clock: the same in every answer of one life. Unix time in milliseconds;
   * undefined where it does not tell.
   */
  readonly startedMs: number | undefined;
  /**
   * Names the server, its history and one table, part by part; `system` is the server's data as a whole. Differs after
   * a restored dump, or where the table was made again. A part that the server does not tell is absent.
   */
  readonly parts: Readonly<Record<string, string>>;
}

/** SQL expressions by which a statement itself can ask in which life of the database it runs. */
export interface ServerExpressions {
  /** A text: {@link ServerMoment.parts} as store-identity.ts writes them. */
  readonly identity: string;
  /** The server's clock: Unix time in milliseconds. */
  readonly clockMs: string;
}

/**
 * A database that a URL names, as PostgreSQL and MySQL have it.
 *
 * Knows how to connect, and nothing of the data there: worker records and sequences both use it.
 */
export interface SqlDatabase<Connection> {
  /**
   * Makes a link, which connects with its first call: to a server that takes writes, never to a standby.
   *
   * @param tables - The tables that its user needs; several links to the same tables share one. Absent: none.
   */
  link(tables?: MadeOnce<Connection>): StoreLink<Connection>;
  /** Asks the server for its moment; `table` is the one that counts. */
  moment(connection: Connection, table: string): Promise<ServerMoment>;
  /** The same for a statement of the caller's own. */
  expressions(connection: Connection, table: string): ServerExpressions;
}
