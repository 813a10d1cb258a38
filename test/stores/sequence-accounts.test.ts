import { describe, expect, onTestFinished, test } from "vitest";
import { kernelRandom128 } from "../../src/kernel-random.ts";
import { openSequenceStore } from "../../src/sequence/open-sequence-store.ts";
import { completeDefinition, endCountOf } from "../../src/sequence/sequence.ts";
import type { SequenceStore } from "../../src/sequence/sequence-store.ts";
import { docBlock, sequencesDoc } from "../house/stores-doc.ts";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { startMysql } from "../support/servers/mysql-server.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { runSql } from "../support/servers/run-sql.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import { stopIn, takeIn, witnessOf } from "../support/worlds/store-calls.ts";

/** A server, and how accounts are made there as docs/stores.md and docs/sequences.md tell an operator. */
interface Place {
  readonly name: string;
  /** Of the block on the page, and of the URL. */
  readonly kind: string;
  readonly start: () => Promise<TestServer>;
  readonly database: string;
  readonly admin: string;
}

const places: readonly Place[] = [
  { name: "PostgreSQL", kind: "postgres", start: () => startPostgres(), database: "postgres", admin: "postgres" },
  { name: "MariaDB", kind: "mysql", start: () => startMariadb(), database: "snowlane", admin: "root" },
  { name: "MySQL", kind: "mysql", start: () => startMysql(), database: "snowlane", admin: "root" },
];

async function open(url: string): Promise<SequenceStore> {
  const store = await openSequenceStore(url, { namespace: "default", callTimeoutMs: 30_000 });
  onTestFinished(() => store.close());
  return store;
}

async function started(starting: Promise<TestServer>): Promise<TestServer> {
  const server = await starting;
  onTestFinished(() => server.stop());
  return server;
}

/** Runs the statements of a block one by one. */
async function runBlock(url: string, block: string): Promise<void> {
  const statements = block.split(";").map((statement) => statement.trim());
  await runSql(url, ...statements.filter((statement) => statement !== ""));
}

describe.each(places)("an account on $name with what docs/sequences.md grants", ({ kind, start, database, admin }) => {
  test("makes no table, and can do all that a server and an operator do where they exist", async () => {
    const server = await started(start());
    await runBlock(server.url, docBlock(`privileges: ${kind}`));
    const urlOf = (account: string): string => `${kind}://${account}@127.0.0.1:${server.port}/${database}`;
    const early = await open(urlOf("snowlane:change-me"));
    await expect(early.look([])).rejects.toMatchObject({ reason: "INVALID_CONFIG" });
    await (await open(urlOf(admin))).look([]);
    await runBlock(urlOf(admin), docBlock(`privileges: ${kind}`, sequencesDoc));

    const store = await open(urlOf("snowlane:change-me"));
    const definition = completeDefinition({ name: "orders", period: "year" });
    const stored = { definition, sequenceId: kernelRandom128(), createdMs: 1, updatedMs: 1 };
    const { database: row } = await store.look([]);
    const revision = row!.revision;
    expect(await store.create({ stored, writeId: kernelRandom128() }, revision)).toBe(true);
    const [writeId, newWriteId] = [kernelRandom128(), kernelRandom128()];
    const key = { name: "orders", periodKey: "2026", sequenceId: stored.sequenceId, revision };
    const take = { ...key, count: 10, endCount: endCountOf(definition), writeId };
    await store.beginPeriod(take, 0);
    expect(await takeIn(store, take)).toBe(0n);
    expect(await store.giveBack({ ...key, firstIndex: 5n, endIndex: 10n, writeId, newWriteId })).toBe(true);
    const after = { ...definition, disabled: true };
    const replacement = { sequenceId: stored.sequenceId, before: definition, after, updatedMs: 2 };
    expect(await store.replace(replacement, "orders")).toBe(true);
    expect((await store.list({ afterName: "", prefix: "", count: 10 })).length).toBe(1);
    expect(await store.raise({ kind: "to", key, index: 50n }, kernelRandom128())).toBe(1);
    await store.cover([{ name: "orders", periodKey: "2026", index: 60n }], kernelRandom128());
    expect(await stopIn(store, "a test", revision)).toBe(true);
    expect(await store.raise({ kind: "all", count: 5n }, kernelRandom128())).toBe(2);
    expect(await store.open()).toMatchObject({ kind: "opened" });

    const refused = /denied|owner/;
    await expect(runSql(urlOf("snowlane:change-me"), "DROP TABLE snowlane_sequence_counter")).rejects.toThrow(refused);
    await expect(runSql(urlOf("snowlane:change-me"), "DELETE FROM snowlane_sequence_counter")).rejects.toThrow(refused);
  });
});

test("a PostgreSQL that keeps facts from its user gives values, and is known by the facts that it tells", async () => {
  const server = await started(startPostgres());
  await runSql(
    server.url,
    "CREATE ROLE worker LOGIN",
    "GRANT CREATE ON SCHEMA public TO worker",
    "REVOKE EXECUTE ON FUNCTION pg_control_system(), pg_current_wal_lsn() FROM PUBLIC",
  );
  const store = await open(server.url.replace("postgres@", "worker@"));
  const { identity, database: row } = await store.look([]);
  expect(identity).toMatch(/^database=\d+ table=\d+$/);
  expect(row).toMatchObject({ identity, stopped: "" });
});

describe("a MariaDB with a binary log", () => {
  test("that has statements in it is refused, because replicas would not follow takes", async () => {
    const server = await started(startMariadb(["--log-bin", "--server-id=1", "--binlog-format=STATEMENT"]));
    const error = { reason: "INVALID_CONFIG", metadata: { binlog_format: "STATEMENT" } };
    await expect((await open(server.url)).look([])).rejects.toMatchObject(error);
    await runSql(server.url, "SET GLOBAL binlog_format = MIXED");
    const store = await open(server.url);
    await store.look([]);
    const definition = completeDefinition({ name: "orders" });
    const stored = { definition, sequenceId: kernelRandom128(), createdMs: 1, updatedMs: 1 };
    await store.create({ stored, writeId: kernelRandom128() }, 1);
    await witnessOf(store);
    const { Log_name: file, File_size: before } = (await runSql(server.url, "SHOW BINARY LOGS")).at(-1) as Record<
      string,
      string
    >;
    const { sequenceId } = stored;
    const request = { name: "orders", periodKey: "", sequenceId, count: 10, endCount: 100n, revision: 1 };
    expect(await takeIn(store, { ...request, writeId: kernelRandom128() })).toBe(0n);
    const events = await runSql(server.url, `SHOW BINLOG EVENTS IN '${file}' FROM ${before}`);
    const types = events.map(({ Event_type: type }) => String(type));
    expect(types.some((type) => type.startsWith("Update_rows"))).toBe(true);
    // MySQL writes the beginning of a transaction as a statement, too.
    const statements = events.filter(({ Event_type: type, Info: info }) => type === "Query" && info !== "BEGIN");
    expect(statements).toEqual([]);
  });
});
