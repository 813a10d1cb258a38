/**
 * Links to a MySQL or MariaDB database: connecting, TLS, and which server takes writes.
 *
 * Every statement commits by itself. How durable an answered commit is depends on the server's settings:
 * innodb_flush_log_at_trx_commit and sync_binlog must be 1, their defaults.
 */
import { connect as connectTcp, isIP, type Socket } from "node:net";
import type { Connection, ConnectionOptions, RowDataPacket } from "mysql2/promise";
import { kernelRandom128 } from "../../kernel-random.ts";
import { loadDriver } from "./load-driver.ts";
import type { MadeOnce } from "./made-once.ts";
import {
  type Endpoint,
  invalidUrl,
  parseRemoteUrl,
  readPassword,
  readTls,
  type RemoteUrl,
  tlsServerName,
} from "./remote-url.ts";
import {
  moreConnections,
  type ServerExpressions,
  type ServerMoment,
  type SqlDatabase,
  type SqlDatabaseOptions,
} from "./sql-database.ts";
import { StoreLink } from "./store-link.ts";
import type { ServerAnswer } from "./watched-server.ts";
import { whileWanted } from "./while-wanted.ts";
import { WriterChoice } from "./writer-choice.ts";

const kind = "mysql";

/** A connection, and the socket below it: only the socket can be destroyed while the driver still connects. */
export interface MysqlConnection {
  readonly client: Connection;
  readonly socket: Socket;
  readonly server: Endpoint;
  readonly dialect: Dialect;
}

/** The names that differ between MySQL and MariaDB. */
interface Dialect {
  /** The table of status variables, of which one is the uptime. */
  readonly statusTable: string;
  /** The variable that distinguishes servers. */
  readonly serverVariable: string;
  /** Its value. */
  readonly serverId: string;
}

/** What an operator does about a server that is read only and should not be. */
const letItWrite = "If it is this one, SET GLOBAL read_only = 0 there.";

/** The longest that it may take to end a session. */
const interruptTimeoutMs = 3_000;

type CreateConnection = (options: ConnectionOptions) => Promise<Connection>;
type SslOptions = Exclude<NonNullable<ConnectionOptions["ssl"]>, string>;

/**
 * Opens a MySQL or MariaDB database; the server may start later.
 *
 * @param text - `mysql://` or `mariadb://`, with one server, or several of which one takes writes; the path is the
 * database.
 * @throws IdError INVALID_CONFIG.
 */
export async function openMysqlDatabase(text: string, options: SqlDatabaseOptions): Promise<MysqlDatabase> {
  const { createConnection } = await loadDriver(kind, "mysql2", () => import("mysql2/promise"));
  const url = parseRemoteUrl(text, { schemes: ["mysql", "mariadb"], defaultPort: 3_306, parameters: [] });
  if (url.path === "") throw invalidUrl("a MySQL URL names its database, as in mysql://host/database");
  return new MysqlDatabase(url, options, createConnection);
}

/** See {@link SqlDatabase}. */
export class MysqlDatabase implements SqlDatabase<MysqlConnection> {
  readonly #url: RemoteUrl;
  readonly #options: SqlDatabaseOptions;
  readonly #createConnection: CreateConnection;

  constructor(url: RemoteUrl, options: SqlDatabaseOptions, createConnection: CreateConnection) {
    this.#url = url;
    this.#options = options;
    this.#createConnection = createConnection;
  }

  link(tables?: MadeOnce<MysqlConnection>): StoreLink<MysqlConnection> {
    const { endpoints: servers } = this.#url;
    return new StoreLink({
      kind,
      callTimeoutMs: this.#options.callTimeoutMs,
      servers,
      connect: (server, signal, lost) => this.#connect(server, signal, lost),
      destroy: ({ client, socket }) => {
        client.destroy();
        socket.destroy();
      },
      sessions: { interrupt: (connection) => this.#interrupt(connection), socketOf: ({ socket }) => socket },
      isRefusal,
      hintOf,
      writers: {
        severalHint: "Fence the old primary; a replica needs read_only=1.",
        noneHint: `Name the server that takes writes. ${letItWrite}`,
        asksAgain: servers.length > 1,
        choice: new WriterChoice(),
        ask,
        isOneServer,
        prepare: (connection) => prepare(connection, tables),
      },
    });
  }

  async moment({ client, dialect }: MysqlConnection, table: string): Promise<ServerMoment> {
    const { statusTable } = dialect;
    const named = partsOf(dialect, table).map(([name, expression]) => `${expression} AS \`${name}\``);
    // The uptime is counted from the start to the second of NOW(), so that their difference is the same in every
    // answer.
    const sql = `SELECT ${clockMs} AS clock_ms, UNIX_TIMESTAMP(NOW()) AS now_s,
      (SELECT VARIABLE_VALUE FROM ${statusTable} WHERE VARIABLE_NAME = 'UPTIME') AS uptime_s, ${named.join(", ")}`;
    const [[row]] = await client.query<RowDataPacket[]>(sql);
    const nowMs = Number(row?.["clock_ms"]);
    // If the clock shows a time before the start, the uptime is negative, and MariaDB shows it as an unsigned number.
    const uptimeS = Number(BigInt.asIntN(64, BigInt(`${row?.["uptime_s"]}`)));
    const startedMs = (Number(row?.["now_s"]) - uptimeS) * 1_000;
    if (!Number.isSafeInteger(nowMs) || !Number.isSafeInteger(startedMs))
      throw new Error("it does not report its time");
    const parts = { system: `${row?.["system"]}`, table: `${row?.["table"]}` };
    return { clockMs: nowMs, startedMs, parts };
  }

  expressions({ dialect }: MysqlConnection, table: string): ServerExpressions {
    const named = partsOf(dialect, table).map(([name, expression]) => `'${name}=', ${expression}`);
    return { identity: `CONCAT(${named.join(", ' ', ")})`, clockMs };
  }

  async #connect(server: Endpoint, signal: AbortSignal, lost: () => void): Promise<MysqlConnection> {
    const config = await this.#config(server);
    const socket = connectTcp({ ...server, noDelay: true });
    return whileWanted(
      signal,
      () => socket.destroy(),
      async () => {
        const client = await this.#createConnection({ ...config, stream: socket });
        // The call that waits throws the error; without a listener the process would end.
        client.on("error", () => {});
        const connection = { client, socket, server, dialect: await begin(client) };
        socket.on("close", lost);
        return connection;
      },
    );
  }

  /**
   * Kills a session that may be waiting for a lock or a commit and would keep occupying one of the server's
   * connections. Only done if the server is the same and its process list has the session under our address: through a
   * proxy, the number could be that of another session.
   */
  async #interrupt({ client, socket, server, dialect }: MysqlConnection): Promise<void> {
    const ours = { id: client.threadId, address: socket.localAddress, port: socket.localPort };
    const limit = AbortSignal.timeout(interruptTimeoutMs);
    try {
      const killer = await this.#connect(server, limit, () => {});
      try {
        if (killer.dialect.serverId === dialect.serverId && (await isListed(killer.client, ours))) {
          await whileWanted(
            limit,
            () => killer.socket.destroy(),
            () => killer.client.query(`KILL ${ours.id}`),
          );
        }
      } finally {
        killer.client.destroy();
        killer.socket.destroy();
      }
    } catch {
      // The server does not answer, or has ended the session by itself.
    }
  }

  async #config(endpoint: Endpoint): Promise<ConnectionOptions> {
    const { user, path } = this.#url;
    const password = await readPassword(this.#url, this.#options.password);
    const tls = await readTls(this.#url, endpoint);
    return {
      // We connect the socket ourselves: the driver only verifies the server's certificate against this host.
      host: tlsServerName(this.#url, endpoint),
      database: path,
      ...(user === undefined ? {} : { user }),
      ...(password === undefined ? {} : { password }),
      ...(tls === undefined ? {} : { ssl: { ...tls, verifyIdentity: true } as SslOptions }),
      // A BIGINT above 2^53 would lose digits as a number.
      supportBigNumbers: true,
      bigNumberStrings: true,
      // affectedRows then counts the rows that an UPDATE found, even if they already have the new values.
      flags: ["FOUND_ROWS"],
    };
  }
}

const clockMs = "CAST(UNIX_TIMESTAMP(SYSDATE(3)) * 1000 AS SIGNED)";

/**
 * Expressions of the parts that identify the server and one table. A table that is created again, for example by a
 * restored dump, has another time of creation.
 */
function partsOf({ serverVariable }: Dialect, table: string): readonly (readonly [name: string, expression: string])[] {
  const created = `SELECT UNIX_TIMESTAMP(CREATE_TIME) FROM information_schema.TABLES WHERE ${isOneOf([table])}`;
  return [
    ["system", `@@GLOBAL.${serverVariable}`],
    ["table", `COALESCE((${created}), 'none')`],
  ];
}

/** Does some work in one transaction, which is rolled back if the work throws. */
export async function transact<R>({ client }: MysqlConnection, work: () => Promise<R>): Promise<R> {
  await client.query("START TRANSACTION");
  try {
    const result = await work();
    await client.query("COMMIT");
    return result;
  } catch (error) {
    // On a lost connection the server rolls back by itself.
    await client.query("ROLLBACK").catch(() => {});
    throw error;
  }
}

/** Sets up a session, and learns the server's dialect. */
async function begin(client: Connection): Promise<Dialect> {
  // Comments with a version from 5.7 to 9.9 are run by MySQL, which would answer from a day-old cache, and skipped by
  // MariaDB, which has no such cache.
  await client.query("SET autocommit = 1, time_zone = '+00:00' /*!80000 , information_schema_stats_expiry = 0 */");
  const [rows] = await client.query<RowDataPacket[]>(
    "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('server_uuid', 'server_uid', 'hostname', 'version')",
  );
  const variables = new Map(rows.map((row) => [`${row["Variable_name"]}`, `${row["Value"]}`]));
  const serverVariable = ["server_uuid", "server_uid"].find((name) => variables.has(name)) ?? "hostname";
  return {
    statusTable: variables.get("version")?.includes("MariaDB")
      ? "information_schema.GLOBAL_STATUS"
      : "performance_schema.global_status",
    serverVariable,
    serverId: variables.get(serverVariable) ?? "",
  };
}

/** Asks a server what it is. */
async function ask({ client, dialect }: MysqlConnection): Promise<ServerAnswer> {
  const [[row]] = await client.query<RowDataPacket[]>(
    `SELECT @@GLOBAL.read_only AS read_only, @@GLOBAL.${dialect.serverVariable} AS server`,
  );
  if (!takesWrites(row?.["read_only"])) return { kind: "other", problem: "it is read_only, as a replica is" };
  return { kind: "writer", role: { server: `${row?.["server"]}` } };
}

/**
 * Whether a value of `read_only` means that the server takes writes: a number, or from MariaDB 12.0 on one of the words
 * OFF, ON, NO_LOCK and NO_LOCK_NO_ADMIN (https://jira.mariadb.org/browse/MDEV-36425).
 */
export function takesWrites(readOnly: unknown): boolean {
  return ["0", "OFF"].includes(String(readOnly).toUpperCase());
}

/**
 * Takes a lock with a random name on one server, and checks whether the other knows of it. A server on a copied volume
 * has the server_uuid of its original, and may have started in the same second.
 */
async function isOneServer(one: MysqlConnection, other: MysqlConnection): Promise<boolean> {
  const name = kernelRandom128();
  const [[taken]] = await one.client.query<RowDataPacket[]>("SELECT GET_LOCK(?, 0) AS is_taken", [name]);
  const [[seen]] = await other.client.query<RowDataPacket[]>("SELECT IS_USED_LOCK(?) IS NOT NULL AS is_used", [name]);
  await one.client.query("SELECT RELEASE_LOCK(?)", [name]);
  return Number(taken?.["is_taken"]) === 1 && Number(seen?.["is_used"]) === 1;
}

/**
 * Whether the process list has a session, and with the port of this socket. Host names in the list cannot be compared,
 * but ports can.
 */
async function isListed(
  client: Connection,
  {
    id,
    address,
    port,
  }: { readonly id: number; readonly address: string | undefined; readonly port: number | undefined },
): Promise<boolean> {
  const [[row]] = await client.query<RowDataPacket[]>(
    "SELECT HOST AS host FROM information_schema.PROCESSLIST WHERE ID = ?",
    [id],
  );
  const [, host, listedPort] = /^(.*):(\d+)$/.exec(`${row?.["host"]}`) ?? [];
  return Number(listedPort) === port && (isIP(host ?? "") === 0 || host === address);
}

/** Has the tables created if there are none yet. */
async function prepare(connection: MysqlConnection, tables: MadeOnce<MysqlConnection> | undefined): Promise<void> {
  await tables?.ensure(connection, await areTablesThere(connection, tables.names));
}

/** Whether all of the named tables exist. */
export async function areTablesThere({ client }: MysqlConnection, names: readonly string[]): Promise<boolean> {
  const [[look]] = await client.query<RowDataPacket[]>(
    `SELECT count(*) AS tables_there FROM information_schema.TABLES WHERE ${isOneOf(names)}`,
  );
  return Number(look?.["tables_there"]) === names.length;
}

/** A condition on information_schema.TABLES: one of these tables of our database. */
function isOneOf(tables: readonly string[]): string {
  return `TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN (${tables.map((table) => `'${table}'`).join(", ")})`;
}

/**
 * Whether a statement was refused, so that it did not happen and never will: a full or read-only table, no privilege, a
 * lock that was not obtained, a deadlock, a server that is read only. Errors of a commit are not among them (1030,
 * 1180, 1317, 1598), because a commit may have happened before it failed.
 */
export function isRefusedStatement(error: unknown): boolean {
  return isLostRace(error) || hasCode(error, [1_036, 1_114, 1_142, 1_143, 1_290, 1_792, 1_836]);
}

/**
 * Whether a statement was refused because of concurrent ones: a lock that was not obtained, a deadlock. It did not
 * happen, and may be sent again.
 */
export function isLostRace(error: unknown): boolean {
  return hasCode(error, [1_205, 1_213]);
}

/** Whether an INSERT was refused because there is a row with the same key. */
export function isDuplicateKey(error: unknown): boolean {
  return hasCode(error, [1_062]);
}

/** Whether an ALTER TABLE was refused because its columns exist already. */
export function isDuplicateColumn(error: unknown): boolean {
  return hasCode(error, [1_060]);
}

function hasCode(error: unknown, codes: readonly number[]): boolean {
  return codes.includes(Number((error as { readonly errno?: unknown }).errno));
}

/** What an operator can do about an error of the server. */
function hintOf(cause: unknown): string | undefined {
  if (hasCode(cause, [1_114])) return "Free space on its disk.";
  if (hasCode(cause, [1_040])) return moreConnections;
  return hasCode(cause, [1_290]) ? `Name the server that takes writes. ${letItWrite}` : undefined;
}

/** Access denied to the server, the database or the table; no such database. */
function isRefusal(cause: unknown): boolean {
  return hasCode(cause, [1_044, 1_045, 1_049, 1_142, 1_143, 1_227]);
}
