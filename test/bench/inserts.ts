/** What a primary key costs a database: IDs in BIGINT, random UUIDs (version 4) and UUIDs by time (version 7). */
import mysql from "mysql2/promise";
import { randomBytes, randomUUID } from "node:crypto";
import { Client } from "pg";
import { Snowflake } from "../../src/library/snowflake.ts";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import type { Benchmark, Finding } from "./benchmark.ts";
import { formatFigure } from "./report.ts";

const rowCount = 1_000_000;
const batchSize = 1_000;
/** Of the database's own cache: smaller than the tables, as with tables that have grown. */
const cacheMib = 32;
const payload = "x".repeat(100);

interface Key {
  readonly name: string;
  readonly isOurs: boolean;
  readonly type: { readonly postgres: string; readonly mariadb: string };
  readonly next: () => string;
}

/** A worker ID that no other benchmark takes: a process may make each once. */
const ids = new Snowflake({ workerId: 31 });
const uuid = { postgres: "uuid", mariadb: "uuid" };
const keys: readonly Key[] = [
  {
    name: "BIGINT, Snowlane",
    isOurs: true,
    type: { postgres: "bigint", mariadb: "bigint" },
    next: () => String(ids.next()),
  },
  { name: "UUID version 7", isOurs: false, type: uuid, next: nextUuid7 },
  { name: "UUID version 4", isOurs: false, type: uuid, next: () => randomUUID() },
];

/** 48 bits of milliseconds, then random bits (RFC 9562, section 5.7). */
function nextUuid7(): string {
  const digits = Date.now().toString(16).padStart(12, "0") + randomBytes(10).toString("hex");
  const variant = ((Number.parseInt(digits[16]!, 16) & 0b0011) | 0b1000).toString(16);
  const spelt = `${digits.slice(0, 12)}7${digits.slice(13, 16)}${variant}${digits.slice(17)}`;
  return spelt.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** A database with an empty table `records`. */
interface Database {
  readonly insert: (keys: readonly string[]) => Promise<unknown>;
  /** Bytes of the table with its primary key, and bytes written to the log and to pages so far. */
  readonly sizes: () => Promise<{ readonly table: number; readonly written: number }>;
  readonly stop: () => Promise<void>;
}

async function openPostgres(type: string): Promise<Database> {
  const server = await startPostgres(["-c", `shared_buffers=${cacheMib}MB`, "-c", "fsync=on"]);
  const client = new Client({ connectionString: server.url });
  await client.connect();
  await client.query(`CREATE TABLE records (id ${type} PRIMARY KEY, payload text NOT NULL)`);
  return {
    insert: (batch) =>
      client.query(`INSERT INTO records SELECT id, $2 FROM unnest($1::${type}[]) AS id`, [batch, payload]),
    sizes: async () => {
      const { rows } = await client.query<{ table: string; written: string }>(
        "SELECT pg_total_relation_size('records') AS table, pg_current_wal_lsn() - '0/0' AS written",
      );
      return { table: Number(rows[0]!.table), written: Number(rows[0]!.written) };
    },
    stop: async () => {
      await client.end();
      await server.stop();
    },
  };
}

async function openMariadb(type: string): Promise<Database> {
  const server = await startMariadb([`--innodb-buffer-pool-size=${cacheMib}M`]);
  const link = await mysql.createConnection({ uri: server.url });
  await link.query(`CREATE TABLE records (id ${type} PRIMARY KEY, payload varchar(100) NOT NULL)`);
  return {
    insert: (batch) => link.query("INSERT INTO records VALUES ?", [batch.map((id) => [id, payload])]),
    sizes: async () => {
      const [tables] = await link.query<mysql.RowDataPacket[]>(
        "SELECT file_size AS size FROM information_schema.innodb_sys_tablespaces WHERE name = 'test/records'",
      );
      const [status] = await link.query<mysql.RowDataPacket[]>("SHOW GLOBAL STATUS LIKE 'Innodb_data_written'");
      return { table: Number(tables[0]!["size"]), written: Number(status[0]!["Value"]) };
    },
    stop: async () => {
      await link.end();
      await server.stop();
    },
  };
}

interface Measured {
  readonly perSecond: number;
  readonly tableBytes: number;
  readonly writtenBytes: number;
}

/** Inserts all rows; the rate is that of the second half, when the table is larger than the cache. */
async function measure(database: Database, next: () => string): Promise<Measured> {
  const before = await database.sizes();
  let halfMs = 0;
  for (let count = 0; count < rowCount; count += batchSize) {
    if (count === rowCount / 2) halfMs = performance.now();
    await database.insert(Array.from({ length: batchSize }, next));
  }
  const perSecond = (rowCount / 2 / (performance.now() - halfMs)) * 1_000;
  const after = await database.sizes();
  return {
    perSecond,
    tableBytes: after.table / rowCount,
    writtenBytes: (after.written - before.written) / rowCount,
  };
}

async function compare(
  title: string,
  note: string,
  open: (key: Key) => Promise<Database>,
  log: (line: string) => void,
): Promise<Finding> {
  const rows: string[][] = [];
  for (const key of keys) {
    const database = await open(key);
    const { perSecond, tableBytes, writtenBytes } = await measure(database, key.next);
    await database.stop();
    log(`${title}, ${key.name}: ${formatFigure(perSecond)} rows/s`);
    rows.push([key.name, ...[perSecond, tableBytes, writtenBytes].map(formatFigure)]);
  }
  return { title, note, columns: ["primary key", "rows/s", "bytes a row, table and key", "bytes written a row"], rows };
}

/** Inserts by key. */
export const insertsBenchmark: Benchmark = {
  name: "inserts",
  title: "IDs as primary keys",
  about: [
    `One session inserts ${rowCount.toLocaleString("en-US")} rows of a key and 100 characters, ${batchSize.toLocaleString("en-US")} a statement, into`,
    `a database whose own cache is ${cacheMib} MB. The rate is that of the second half. Where the clients and the database`,
    "share few processors, bytes say more than rates: they do not depend on what else the machine does.",
  ].join("\n"),
  packages: ["pg", "mysql2"],
  run: async (log) => [
    await compare("PostgreSQL", "Written: its log (WAL).", (key) => openPostgres(key.type.postgres), log),
    await compare(
      "MariaDB",
      "Written: pages and log of InnoDB, which keeps rows in the order of their keys.",
      (key) => openMariadb(key.type.mariadb),
      log,
    ),
  ],
};
