/**
 * Records in MySQL or MariaDB: one table for all namespaces, compared by value, byte for byte.
 *
 * Every statement commits by itself. What an answered commit is worth is the server's setting:
 * innodb_flush_log_at_trx_commit and sync_binlog must be 1, their defaults.
 */
import { connect, type Socket } from "node:net";
import type { Connection, ConnectionOptions, ResultSetHeader, RowDataPacket } from "mysql2/promise";
import { IdError } from "../../errors.ts";
import type {
  Entry,
  ListAnswer,
  ReadAnswer,
  RecordKey,
  RecordStore,
  StoreMoment,
  StoreOptions,
  WriteAnswer,
} from "../record-store.ts";
import { loadDriver } from "./load-driver.ts";
import { connectToAny, nothingKept, StoreLink, whileWanted } from "./store-link.ts";
import { type Endpoint, parseRemoteUrl, readPassword, readTls, tlsServerName, type RemoteUrl } from "./remote-url.ts";

const kind = "mysql";

/** A connection, and the socket below it: only that can be destroyed while the driver still connects. */
interface Link {
  readonly connection: Connection;
  readonly socket: Socket;
  /** Asks for the moment, in the words of this server. */
  readonly momentSql: string;
}

const table = "TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'snowlane_record'";

/** Columns are binary: neither case nor a trailing space may be overlooked when texts are compared. */
const sql = {
  // Comments with a version from 5.7 to 9.9 are run by MySQL, which would answer from a day-old cache, and skipped by
  // MariaDB, which has none.
  prepare: "SET autocommit = 1, time_zone = '+00:00' /*!80000 , information_schema_stats_expiry = 0 */",
  look: `SELECT @@GLOBAL.read_only AS standby, VERSION() AS version,
    (SELECT count(*) FROM information_schema.TABLES WHERE ${table}) AS tables`,
  identities: "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('server_uuid', 'server_uid')",
  createTable: `CREATE TABLE IF NOT EXISTS snowlane_record (
    namespace VARBINARY(63) NOT NULL, \`key\` VARBINARY(40) NOT NULL, text VARBINARY(1024) NOT NULL,
    PRIMARY KEY (namespace, \`key\`)) ENGINE = InnoDB`,
  list: "SELECT `key`, text FROM snowlane_record WHERE namespace = ?",
  read: "SELECT `key`, text FROM snowlane_record WHERE namespace = ? AND `key` = ?",
  create: "INSERT INTO snowlane_record (namespace, `key`, text) VALUES (?, ?, ?)",
  replace: "UPDATE snowlane_record SET text = ? WHERE namespace = ? AND `key` = ? AND text = ?",
} as const;

/**
 * Opens a MySQL or MariaDB store; the server need not be there yet.
 *
 * @param text - `mysql://` or `mariadb://`, with one or several servers of which one takes writes; the path is the
 * database.
 * @throws IdError INVALID_CONFIG.
 */
export async function openMysqlStore(text: string, options: StoreOptions): Promise<RecordStore> {
  const { createConnection } = await loadDriver(kind, "mysql2", () => import("mysql2/promise"));
  const url = parseRemoteUrl(text, { schemes: ["mysql", "mariadb"], defaultPort: 3_306, parameters: [] });
  if (url.path === "") {
    const message = "The store URL is not valid: a MySQL URL names its database, as in mysql://host/database.";
    throw new IdError("INVALID_CONFIG", message);
  }
  return new MysqlStore(url, options, createConnection);
}

type CreateConnection = (options: ConnectionOptions) => Promise<Connection>;

class MysqlStore implements RecordStore {
  readonly kind = kind;
  readonly durability = "durable";
  readonly liveness = { kind: "ttl" } as const;
  readonly timing = { windowMs: 30_000, renewalPeriodMs: 5_000, ttlMs: 33_000 };
  readonly #url: RemoteUrl;
  readonly #options: StoreOptions;
  readonly #createConnection: CreateConnection;
  readonly #link: StoreLink<Link>;
  #hasSeenTable = false;

  constructor(url: RemoteUrl, options: StoreOptions, createConnection: CreateConnection) {
    this.#url = url;
    this.#options = options;
    this.#createConnection = createConnection;
    this.#link = new StoreLink({
      kind,
      callTimeoutMs: options.callTimeoutMs,
      connect: async (signal, lost) => {
        const link = await connectToAny(url.endpoints, signal, options.callTimeoutMs, this.#connect);
        link.socket.on("close", lost);
        return link;
      },
      destroy: ({ connection, socket }) => {
        connection.destroy();
        socket.destroy();
      },
      isRefusal,
    });
  }

  moment(): Promise<StoreMoment> {
    return this.#link.call(readMoment);
  }

  async list(): Promise<ListAnswer> {
    return this.#link.call(async (link) => {
      const [rows] = await link.connection.execute<RecordRow[]>(sql.list, [this.#options.namespace]);
      return {
        entries: rows.map(({ key, text }) => toEntry(key.toString(), text.toString())),
        moment: await readMoment(link),
      };
    });
  }

  async read(key: RecordKey): Promise<ReadAnswer> {
    return this.#link.call(async (link) => {
      const [rows] = await link.connection.execute<RecordRow[]>(sql.read, [this.#options.namespace, key]);
      const entry = rows[0] === undefined ? undefined : toEntry(key, rows[0].text.toString());
      return { entry, moment: await readMoment(link) };
    });
  }

  async compareAndSet(key: RecordKey, expected: Entry | undefined, next: string): Promise<WriteAnswer> {
    const { namespace } = this.#options;
    return this.#link.call(async (link) => {
      const isApplied =
        expected === undefined
          ? await create(link.connection, [namespace, key, next])
          : await replace(link.connection, [next, namespace, key, expected.text]);
      const moment = await readMoment(link);
      return isApplied ? { kind: "applied", entry: toEntry(key, next), moment } : { kind: "conflict", moment };
    });
  }

  async close(): Promise<void> {
    this.#link.close();
  }

  readonly #connect = async (endpoint: Endpoint, signal: AbortSignal): Promise<Link> => {
    const config = await this.#config(endpoint);
    const socket = connect({ ...endpoint, noDelay: true });
    return whileWanted(
      signal,
      () => socket.destroy(),
      async () => {
        const connection = await this.#createConnection({ ...config, stream: socket });
        // What goes wrong is told by the call that waits; without a listener the process would end.
        connection.on("error", () => {});
        return { connection, socket, momentSql: await this.#prepare(connection) };
      },
    );
  };

  async #config(endpoint: Endpoint): Promise<ConnectionOptions> {
    const { user, path } = this.#url;
    const password = await readPassword(this.#url, this.#options.password);
    const tls = await readTls(this.#url, endpoint);
    return {
      // The socket is connected by us: the driver only verifies the server's certificate against it.
      host: tlsServerName(this.#url, endpoint),
      database: path,
      ...(user === undefined ? {} : { user }),
      ...(password === undefined ? {} : { password }),
      ...(tls === undefined ? {} : { ssl: { ...tls, verifyIdentity: true } as SslOptions }),
      // A BIGINT above 2^53 would lose digits as a number.
      supportBigNumbers: true,
      bigNumberStrings: true,
      // affectedRows then counts the rows that an UPDATE found, also where it writes what is there already.
      flags: ["FOUND_ROWS"],
    };
  }

  /** Refuses a standby, and makes the table where there is none: only once, for a table that vanished held marks. */
  async #prepare(connection: Connection): Promise<string> {
    await connection.query(sql.prepare);
    const [[look]] = await connection.query<RowDataPacket[]>(sql.look);
    if (Number(look?.["standby"]) !== 0) throw new Error("it is a standby and takes no writes");
    if (Number(look?.["tables"]) === 0) {
      if (this.#hasSeenTable) {
        const message =
          "The table snowlane_record is gone from the MySQL store. Restore it; servers started from then on go on.";
        throw new IdError("STORE_WENT_BACK", message);
      }
      if (this.#options.whereNew === "refuse") throw nothingKept(kind, "there is no table snowlane_record");
      await connection.query(sql.createTable);
    }
    this.#hasSeenTable = true;
    const [identities] = await connection.query<RowDataPacket[]>(sql.identities);
    const identity = identities[0]?.["Variable_name"];
    return writeMomentSql(`${look?.["version"]}`, typeof identity === "string" ? identity : "hostname");
  }
}

type SslOptions = Exclude<NonNullable<ConnectionOptions["ssl"]>, string>;

interface RecordRow extends RowDataPacket {
  readonly key: Buffer;
  readonly text: Buffer;
}

/** Where the uptime stands, and what the server calls its identity, is not the same in MySQL and MariaDB. */
function writeMomentSql(version: string, identity: string): string {
  const status = version.includes("MariaDB") ? "information_schema.GLOBAL_STATUS" : "performance_schema.global_status";
  // The uptime counts from the start to the second of NOW(), so that their difference is the same in every answer.
  return `SELECT CAST(UNIX_TIMESTAMP(SYSDATE(3)) * 1000 AS UNSIGNED) AS clock_ms, UNIX_TIMESTAMP(NOW()) AS now_s,
    (SELECT VARIABLE_VALUE FROM ${status} WHERE VARIABLE_NAME = 'UPTIME') AS uptime_s, @@GLOBAL.${identity} AS server,
    (SELECT UNIX_TIMESTAMP(CREATE_TIME) FROM information_schema.TABLES WHERE ${table}) AS created_s`;
}

async function readMoment({ connection, momentSql }: Link): Promise<StoreMoment> {
  const [[row]] = await connection.query<RowDataPacket[]>(momentSql);
  const clockMs = Number(row?.["clock_ms"]);
  const startedMs = (Number(row?.["now_s"]) - Number(row?.["uptime_s"])) * 1_000;
  if (!Number.isSafeInteger(clockMs) || !Number.isSafeInteger(startedMs)) throw new Error("it does not tell its time");
  // A table that is made anew, by a restored dump for example, has another time of creation.
  const identity = `${row?.["server"]}/${row?.["created_s"] ?? "no table"}`;
  return { clockMs, incarnation: { identity, startedMs, emptyMeans: "new" } };
}

async function create(connection: Connection, values: readonly string[]): Promise<boolean> {
  try {
    const [{ affectedRows }] = await connection.execute<ResultSetHeader>(sql.create, [...values]);
    return affectedRows === 1;
  } catch (error) {
    if ((error as { code?: unknown }).code === "ER_DUP_ENTRY") return false;
    throw error;
  }
}

async function replace(connection: Connection, values: readonly string[]): Promise<boolean> {
  const [{ affectedRows }] = await connection.execute<ResultSetHeader>(sql.replace, [...values]);
  return affectedRows === 1;
}

function toEntry(key: RecordKey, text: string): Entry {
  return { key, text, version: text };
}

/** Access denied to the server, the database or the table; no such database. */
function isRefusal(cause: unknown): boolean {
  return [1_044, 1_045, 1_049, 1_142, 1_143, 1_227].includes(Number((cause as { errno?: unknown }).errno));
}
