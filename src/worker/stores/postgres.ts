/**
 * Records in PostgreSQL: one table for all namespaces, compared by value.
 *
 * Every statement is a transaction of its own and needs no state of the session, so that a connection pooler may stand
 * between. A write is answered after its commit is on disk (and on the synchronous standbys, if there are any), also
 * where the server's default is laxer.
 */
import { Socket } from "node:net";
import type { Client, ClientConfig } from "pg";
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
import { type Endpoint, parseRemoteUrl, readPassword, readTls, type RemoteUrl } from "./remote-url.ts";

const kind = "postgres";

/** A connection, and the socket below it: only that can be destroyed without waiting for the server. */
interface Link {
  readonly client: Client;
  readonly socket: Socket;
}

interface RecordRow {
  readonly key: string;
  readonly text: string;
}

interface MomentRow {
  readonly clock_ms: string;
  readonly started_ms: string;
  readonly identity: string;
}

/**
 * Opens a PostgreSQL store; the server need not be there yet.
 *
 * @param text - `postgres://` or `postgresql://`, with one or several servers of which one takes writes; the path is
 * the database. `schema=` names another schema than the first of the search path. `sslmode=` is read as other clients
 * read it, but certificates are verified always.
 * @throws IdError INVALID_CONFIG.
 */
export async function openPostgresStore(text: string, options: StoreOptions): Promise<RecordStore> {
  const { Client: createClient } = await loadDriver(kind, "pg", () => import("pg"));
  const url = parseRemoteUrl(text, {
    schemes: ["postgres", "postgresql"],
    defaultPort: 5_432,
    parameters: ["schema", "sslmode"],
  });
  const schema = url.parameters.get("schema");
  if (schema !== undefined && !/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
    const message = "The store URL is not valid: a schema is lower-case letters, digits and underscores.";
    throw new IdError("INVALID_CONFIG", message);
  }
  return new PostgresStore(url, options, createClient);
}

class PostgresStore implements RecordStore {
  readonly kind = kind;
  readonly durability = "durable";
  readonly liveness = { kind: "ttl" } as const;
  readonly timing = { windowMs: 30_000, renewalPeriodMs: 5_000, ttlMs: 33_000 };
  readonly #url: RemoteUrl;
  readonly #options: StoreOptions;
  readonly #createClient: typeof Client;
  readonly #link: StoreLink<Link>;
  readonly #sql: Statements;
  #hasSeenTable = false;

  constructor(url: RemoteUrl, options: StoreOptions, createClient: typeof Client) {
    this.#url = url;
    this.#options = options;
    this.#createClient = createClient;
    const schema = url.parameters.get("schema");
    this.#sql = writeStatements(schema === undefined ? "snowlane_record" : `"${schema}".snowlane_record`);
    this.#link = new StoreLink({
      kind,
      callTimeoutMs: options.callTimeoutMs,
      connect: async (signal, lost) => {
        const link = await connectToAny(url.endpoints, signal, options.callTimeoutMs, this.#connect);
        link.client.on("error", lost).on("end", lost);
        return link;
      },
      destroy: ({ socket }) => socket.destroy(),
      isRefusal,
    });
  }

  moment(): Promise<StoreMoment> {
    return this.#link.call((link) => this.#moment(link));
  }

  async list(): Promise<ListAnswer> {
    return this.#link.call(async (link) => {
      const { rows } = await link.client.query<RecordRow>(this.#sql.list, [this.#options.namespace]);
      return { entries: rows.map(({ key, text }) => toEntry(key, text)), moment: await this.#moment(link) };
    });
  }

  async read(key: RecordKey): Promise<ReadAnswer> {
    return this.#link.call(async (link) => {
      const { rows } = await link.client.query<RecordRow>(this.#sql.read, [this.#options.namespace, key]);
      const text = rows[0]?.text;
      return { entry: text === undefined ? undefined : toEntry(key, text), moment: await this.#moment(link) };
    });
  }

  async compareAndSet(key: RecordKey, expected: Entry | undefined, next: string): Promise<WriteAnswer> {
    return this.#link.call(async (link) => {
      const values = [this.#options.namespace, key, next];
      const { rows } = await (expected === undefined
        ? link.client.query<{ count: number }>(this.#sql.create, values)
        : link.client.query<{ count: number }>(this.#sql.replace, [...values, expected.text]));
      const moment = await this.#moment(link);
      return rows[0]?.count === 1
        ? { kind: "applied", entry: toEntry(key, next), moment }
        : { kind: "conflict", moment };
    });
  }

  async close(): Promise<void> {
    this.#link.close();
  }

  async #moment({ client }: Link): Promise<StoreMoment> {
    const [row] = (await client.query<MomentRow>(this.#sql.moment)).rows;
    if (row === undefined) throw new Error("it does not tell its time");
    const startedMs = Number(row.started_ms);
    return { clockMs: Number(row.clock_ms), incarnation: { identity: row.identity, startedMs, emptyMeans: "new" } };
  }

  readonly #connect = async (endpoint: Endpoint, signal: AbortSignal): Promise<Link> => {
    const socket = new Socket();
    const client = new this.#createClient(await this.#config(endpoint, socket));
    // What goes wrong is told by the call that waits; without a listener the process would end.
    client.on("error", () => {});
    return whileWanted(
      signal,
      () => socket.destroy(),
      async () => {
        await client.connect();
        await this.#prepare(client);
        return { client, socket };
      },
    );
  };

  async #config(endpoint: Endpoint, socket: Socket): Promise<ClientConfig> {
    const { user, path, parameters } = this.#url;
    const sslMode = parameters.get("sslmode") ?? "disable";
    const tls = await readTls(this.#url, endpoint, sslMode !== "disable");
    const password = await readPassword(this.#url, this.#options.password);
    return {
      host: endpoint.host,
      port: endpoint.port,
      ...(user === undefined ? {} : { user }),
      ...(path === "" ? {} : { database: path }),
      ...(password === undefined ? {} : { password }),
      ssl: tls ?? false,
      application_name: "snowlane",
      stream: () => socket,
    };
  }

  /** Refuses a standby, and makes the table where there is none: only once, for a table that vanished held marks. */
  async #prepare(client: Client): Promise<void> {
    const { rows } = await client.query<{ standby: boolean; exists: boolean }>(this.#sql.look);
    if (rows[0]?.standby === true) throw new Error("it is a standby and takes no writes");
    if (rows[0]?.exists !== true) {
      if (this.#hasSeenTable) {
        const message =
          "The table snowlane_record is gone from the PostgreSQL store. Restore it; servers started from then on go on.";
        throw new IdError("STORE_WENT_BACK", message);
      }
      if (this.#options.whereNew === "refuse") throw nothingKept(kind, "there is no table snowlane_record");
      await createTable(client, this.#sql.createTable);
    }
    this.#hasSeenTable = true;
  }
}

/** Two that create the table at once: IF NOT EXISTS lets one of them fail on a name that is taken by now. */
async function createTable(client: Client, statement: string): Promise<void> {
  try {
    await client.query(statement);
  } catch (error) {
    if (!["42P07", "23505"].includes(sqlState(error) ?? "")) throw error;
  }
}

type Statements = ReturnType<typeof writeStatements>;

function writeStatements(table: string) {
  // A commit is answered when it is on disk. remote_apply waits for more than that, and stays.
  const durable = `durable AS (SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit')
    WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true) AS mode)`;
  return {
    look: `SELECT pg_is_in_recovery() AS standby, to_regclass('${table}') IS NOT NULL AS exists`,
    createTable: `CREATE TABLE IF NOT EXISTS ${table} (
      namespace text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL, text text COLLATE "C" NOT NULL,
      PRIMARY KEY (namespace, key))`,
    list: `SELECT key, text FROM ${table} WHERE namespace = $1`,
    read: `SELECT key, text FROM ${table} WHERE namespace = $1 AND key = $2`,
    create: `WITH ${durable}, done AS (
      INSERT INTO ${table} (namespace, key, text) SELECT $1, $2, $3 FROM durable ON CONFLICT DO NOTHING RETURNING 1)
      SELECT count(*)::int AS count FROM done`,
    replace: `WITH ${durable}, done AS (
      UPDATE ${table} SET text = $3 FROM durable WHERE namespace = $1 AND key = $2 AND text = $4 RETURNING 1)
      SELECT count(*)::int AS count FROM done`,
    // The timeline grows with each promotion and each recovery to a point in time; the object ID when the table is made
    // anew.
    moment: `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS clock_ms,
      (extract(epoch FROM pg_postmaster_start_time()) * 1000)::bigint AS started_ms,
      (SELECT system_identifier FROM pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
        || '/' || '${table}'::regclass::oid AS identity`,
  } as const;
}

function toEntry(key: RecordKey, text: string): Entry {
  return { key, text, version: text };
}

function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown }).code;
  return typeof code === "string" ? code : undefined;
}

/** Classes 28 (authorisation) and 3D, 3F (no such database or schema), and a privilege that is missing. */
function isRefusal(cause: unknown): boolean {
  return /^(28...|3D000|3F000|42501)$/.test(sqlState(cause) ?? "");
}
