/**
 * Links to a PostgreSQL database: connecting, TLS, which server takes writes, and durable commits.
 *
 * No statement may need the state of a session, so that a connection pooler can be used.
 */
import { connect as connectTcp, Socket } from "node:net";
import type { Client, ClientConfig, QueryResultRow } from "pg";
import { loadDriver } from "./load-driver.ts";
import type { MadeOnce } from "./made-once.ts";
import { type FactName, facts, findTold, takesWrites, writersTimeline } from "./postgres-facts.ts";
import { type Endpoint, invalidUrl, parseRemoteUrl, readPassword, readTls, type RemoteUrl } from "./remote-url.ts";
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

const kind = "postgres";
const schemaPattern = /^[a-z_][a-z0-9_]{0,62}$/;

/** A connection, and the socket below it: only the socket can be destroyed without waiting for the server. */
export interface PostgresConnection {
  readonly client: Client;
  readonly socket: Socket;
  /** The facts that the server reveals; it was asked when the connection was made. */
  readonly told: ReadonlySet<FactName>;
}

/**
 * A part of a WITH clause, `durable`, for each statement that writes: its commit is answered when it is on disk (and on
 * the synchronous standbys, if there are any), even if the server's default is laxer. `remote_apply` waits for more
 * than that, and is kept. A statement has to name `durable` in its FROM clause, otherwise the clause is not evaluated.
 * To be run by {@link writeDurably}, which needs the warnings that the clause makes the server send.
 */
export const durableCommit = `durable AS (SELECT set_config('client_min_messages', 'warning', true) AS messages,
  set_config('synchronous_commit',
    CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true) AS mode)`;

/**
 * Runs a statement with {@link durableCommit}, and returns its rows.
 *
 * @throws Error if the server sends a warning: if a wait for a synchronous standby is cancelled, the server still
 * commits, with only a warning, and a failover then undoes the write.
 */
export async function writeDurably<Row extends QueryResultRow>(
  { client }: PostgresConnection,
  statement: string,
  values: readonly unknown[],
): Promise<readonly Row[]> {
  const { rows } = await withoutWarning(client, () => client.query<Row>(statement, [...values]));
  return rows;
}

/**
 * Does some work in one transaction, in which each statement sees what was committed before it, and which commits
 * durably: see {@link durableCommit}. It is rolled back if the work throws.
 *
 * @throws Error as {@link writeDurably} does.
 */
export async function transactDurably<R>({ client }: PostgresConnection, work: () => Promise<R>): Promise<R> {
  return withoutWarning(client, async () => {
    await client.query("BEGIN ISOLATION LEVEL READ COMMITTED");
    try {
      await client.query(`WITH ${durableCommit} SELECT 1 FROM durable`);
      const result = await work();
      await client.query("COMMIT");
      return result;
    } catch (error) {
      // On a lost connection the server rolls back by itself.
      await client.query("ROLLBACK").catch(() => {});
      throw error;
    }
  });
}

async function withoutWarning<R>(client: Client, work: () => Promise<R>): Promise<R> {
  const warnings: string[] = [];
  const onNotice = ({ message }: { readonly message?: string | undefined }): void => {
    warnings.push(message ?? "it sent a warning");
  };
  client.on("notice", onNotice);
  try {
    const result = await work();
    if (warnings.length > 0) throw new Error(warnings.join("; "));
    return result;
  } finally {
    client.off("notice", onNotice);
  }
}

type MomentRow = { readonly clock_ms: string; readonly started_ms: string | null } & Readonly<
  Partial<Record<FactName | "table", string>>
>;

/**
 * Opens a PostgreSQL database; the server may start later.
 *
 * @param text - `postgres://` or `postgresql://`, with one server, or several of which one takes writes; the path is
 * the database. `schema=` names a schema other than the first of the search path. `sslmode=` is read as other clients
 * read it, but certificates are always verified.
 * @throws IdError INVALID_CONFIG.
 */
export async function openPostgresDatabase(text: string, options: SqlDatabaseOptions): Promise<PostgresDatabase> {
  const { Client: createClient } = await loadDriver(kind, "pg", () => import("pg"));
  const url = parseRemoteUrl(text, {
    schemes: ["postgres", "postgresql"],
    defaultPort: 5_432,
    parameters: ["schema", "sslmode"],
  });
  const schema = url.parameters.get("schema");
  if (schema !== undefined && !schemaPattern.test(schema)) {
    throw invalidUrl("a schema is lower-case letters, digits and underscores");
  }
  return new PostgresDatabase(url, options, createClient);
}

/** See {@link SqlDatabase}. Tables are named as {@link PostgresDatabase.qualify} writes them. */
export class PostgresDatabase implements SqlDatabase<PostgresConnection> {
  readonly #url: RemoteUrl;
  readonly #options: SqlDatabaseOptions;
  readonly #createClient: typeof Client;
  readonly #choice = new WriterChoice();

  constructor(url: RemoteUrl, options: SqlDatabaseOptions, createClient: typeof Client) {
    this.#url = url;
    this.#options = options;
    this.#createClient = createClient;
  }

  /** Puts the schema of the URL, if it names one, before the name of a table. */
  qualify(table: string): string {
    const schema = this.#url.parameters.get("schema");
    return schema === undefined ? table : `"${schema}".${table}`;
  }

  link(tables?: MadeOnce<PostgresConnection>): StoreLink<PostgresConnection> {
    const { endpoints: servers } = this.#url;
    return new StoreLink({
      kind,
      callTimeoutMs: this.#options.callTimeoutMs,
      servers,
      connect: (server, signal, lost) => this.#connect(server, signal, lost),
      destroy: ({ socket }) => socket.destroy(),
      sessions: { interrupt, socketOf: ({ socket }) => socket },
      isRefusal,
      hintOf,
      writers: {
        severalHint: "Fence the old primary: stop it, or make it a standby.",
        noneHint:
          "Name the server that takes writes, or promote this one or set its default_transaction_read_only = off.",
        asksAgain: servers.length > 1,
        choice: this.#choice,
        ask,
        // The time of the start distinguishes two servers, even if one runs on a copy of the other's data.
        isOneServer: async () => true,
        prepare: (connection) => prepare(connection, tables),
      },
    });
  }

  async moment({ client, told }: PostgresConnection, table: string): Promise<ServerMoment> {
    const named = partsOf(told, table).map(([name, expression]) => `${expression} AS ${name}`);
    const started = told.has("started") ? `(${facts.started} * 1000)::bigint` : "NULL";
    const sql = `SELECT ${clockMs} AS clock_ms, ${started} AS started_ms, ${named.join(", ")}`;
    const [row] = (await client.query<MomentRow>(sql)).rows;
    if (row === undefined) throw new Error("it does not report its time");
    const { clock_ms, started_ms: startedMs, ...parts } = row;
    return { clockMs: Number(clock_ms), startedMs: startedMs === null ? undefined : Number(startedMs), parts };
  }

  expressions({ told }: PostgresConnection, table: string): ServerExpressions {
    const parts = partsOf(told, table).map(([name, expression]) => `'${name}=' || ${expression}`);
    return { identity: `(${parts.join(" || ' ' || ")})`, clockMs };
  }

  async #connect(server: Endpoint, signal: AbortSignal, lost: () => void): Promise<PostgresConnection> {
    const socket = new Socket();
    const client = new this.#createClient(await this.#config(server, socket));
    // The call that waits throws the error; without a listener the process would end.
    client.on("error", () => {});
    return whileWanted(
      signal,
      () => socket.destroy(),
      async () => {
        await client.connect();
        client.on("error", lost).on("end", lost);
        return { client, socket, told: await findTold(client) };
      },
    );
  }

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
}

const clockMs = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/**
 * Expressions of the parts that identify the server's data and one table, as far as the server reveals them. The
 * table's object ID changes when it is created again.
 */
function partsOf(told: ReadonlySet<FactName>, table: string): readonly (readonly [name: string, expression: string])[] {
  const names = (["system", "timeline", "database"] as const).filter((name) => told.has(name));
  return [...names.map((name) => [name, facts[name]] as const), ["table", `'${table}'::regclass::oid::text`]];
}

/** The key of a session, which a server sends at its start, and which the driver's types leave out. */
interface SessionKey {
  readonly processID: number;
  readonly secretKey: number;
}

/**
 * The longest that connecting for a cancel request may take, and below it the longest until the request is accepted.
 */
const interruptConnectTimeoutMs = 3_000;
const interruptTimeoutMs = 60_000;

/**
 * Asks the server to cancel what a session is doing: while it waits for a lock or a synchronous standby, it keeps
 * occupying one of the server's connections. The request goes over a socket of its own, needs no TLS and has no answer
 * (PostgreSQL's documentation, "Canceling Requests in Progress").
 *
 * The server closes that socket when it has passed the request on. Like libpq, we do not close it before: that would
 * crash PgBouncer 1.18, and cut off all of its clients (https://github.com/pgbouncer/pgbouncer/issues/801).
 */
async function interrupt({ client, socket }: PostgresConnection): Promise<void> {
  const { processID, secretKey } = client as unknown as SessionKey;
  const { remoteAddress, remotePort } = socket;
  if (remoteAddress === undefined || remotePort === undefined) return;
  const request = Buffer.alloc(16);
  for (const [index, value] of [16, 80_877_102, processID, secretKey].entries()) request.writeInt32BE(value, 4 * index);
  const { promise: done, resolve } = Promise.withResolvers<void>();
  const line = connectTcp({ host: remoteAddress, port: remotePort, timeout: interruptConnectTimeoutMs }).unref();
  line.once("connect", () => line.setTimeout(interruptTimeoutMs).write(request));
  line.once("timeout", () => line.destroy()).once("error", () => {});
  line.once("close", () => resolve()).resume();
  await done;
}

interface RoleRow {
  readonly is_standby: boolean;
  readonly takes_writes: boolean;
  readonly system?: string;
  readonly timeline?: string | null;
  readonly started?: string;
}

/** Asks a server what it is. Neither a standby nor a server that was set to read only takes writes. */
async function ask({ client, told }: PostgresConnection): Promise<ServerAnswer> {
  const expressions = { ...facts, timeline: writersTimeline, started: `${facts.started}::text` };
  const named = (["system", "timeline", "started"] as const).filter((name) => told.has(name));
  const columns = [
    "COALESCE(current_setting('in_hot_standby', true) = 'on', false) AS is_standby",
    `${takesWrites} AS takes_writes`,
    ...named.map((name) => `${expressions[name]} AS ${name}`),
  ];
  const [row] = (await client.query<RoleRow>(`SELECT ${columns.join(", ")}`)).rows;
  if (row === undefined) throw new Error("it does not report whether it takes writes");
  if (row.is_standby) return { kind: "other", problem: "it is a standby and takes no writes" };
  if (!row.takes_writes) return { kind: "other", problem: "it is set to read only and takes no writes" };
  const { system, timeline, started } = row;
  // The system identifier alone is not enough, because copies of the data share it.
  const server = started === undefined ? undefined : `${system ?? ""} ${started}`;
  return {
    kind: "writer",
    role: { server, system, timeline: timeline ? Number.parseInt(timeline, 16) : undefined },
  };
}

/** Has the tables created if there are none yet. */
async function prepare(
  connection: PostgresConnection,
  tables: MadeOnce<PostgresConnection> | undefined,
): Promise<void> {
  await tables?.ensure(connection, await areTablesThere(connection, tables.names));
}

/** Whether all of the named tables exist. */
export async function areTablesThere({ client }: PostgresConnection, names: readonly string[]): Promise<boolean> {
  const areThere = names.map((table) => `to_regclass('${table}') IS NOT NULL`).join(" AND ");
  const [row] = (await client.query<{ are_there: boolean }>(`SELECT ${areThere} AS are_there`)).rows;
  return row?.are_there === true;
}

/**
 * Runs a CREATE TABLE IF NOT EXISTS. If two processes run it at the same time, the server may fail one of them because
 * the name is taken by then; the table exists in either case.
 */
export async function createTable({ client }: PostgresConnection, statement: string): Promise<void> {
  try {
    await client.query(statement);
  } catch (error) {
    if (!["42P07", "23505"].includes(sqlState(error) ?? "")) throw error;
  }
}

/**
 * Whether a statement was refused, so that it did not happen and never will: read only, no privilege, no space or
 * memory, a lock that was not obtained, a deadlock. An error that ends the session, or comes from a pooler, is FATAL
 * and leaves the outcome unknown.
 */
export function isRefusedStatement(error: unknown): boolean {
  return isLostRace(error) || isErrorOf(error, ["25006", "42501", "53100", "53200"]);
}

/**
 * Whether a statement was refused because of concurrent ones: a lock that was not obtained, a deadlock, a transaction
 * that cannot be serialised. It did not happen, and may be sent again.
 */
export function isLostRace(error: unknown): boolean {
  return isErrorOf(error, ["55P03", "40001", "40P01"]);
}

/** Whether an INSERT was refused because there is a row with the same key. */
export function isDuplicateKey(error: unknown): boolean {
  return isErrorOf(error, ["23505"]);
}

function isErrorOf(error: unknown, states: readonly string[]): boolean {
  const { severity } = error as { readonly severity?: unknown };
  return severity === "ERROR" && states.includes(sqlState(error) ?? "");
}

function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown }).code;
  return typeof code === "string" ? code : undefined;
}

/** What an operator can do about an error of the server. */
function hintOf(cause: unknown): string | undefined {
  const state = sqlState(cause);
  if (state === "53100") return "Free space on its disk.";
  if (state === "53300") return moreConnections;
  if (state !== "25006") return undefined;
  return "Set default_transaction_read_only = off on the server, the database and the user, or name the server that takes writes.";
}

/** Classes 28 (authorisation) and 3D, 3F (no such database or schema), and a missing privilege. */
function isRefusal(cause: unknown): boolean {
  return /^(28...|3D000|3F000|42501)$/.test(sqlState(cause) ?? "");
}
