/** Sequences move between real databases of every kind, and one that is lost gets a successor of its ID. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { copyDatabase } from "../../src/sequence/copy-database.ts";
import { openSequenceStore } from "../../src/sequence/open-sequence-store.ts";
import { runInProcess } from "../cli/in-process.ts";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { startMysql } from "../support/servers/mysql-server.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { openSqlSession, runSql } from "../support/servers/run-sql.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import { openSequences } from "../support/worlds/opened-sequences.ts";

const servers = [
  ["PostgreSQL", () => startPostgres()],
  ["MariaDB", () => startMariadb()],
  ["MySQL", () => startMysql()],
] as const;

const sequences = (...words: readonly string[]) => runInProcess(["sequences", ...words]);
const newFile = (): string => `sqlite:${join(temporaryFolder(), "s.db")}`;

describe.each(servers)("sequences in %s", (_kind, start) => {
  let server: TestServer;
  let namespaces = 0;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(async () => {
    await server.stop();
  });
  const newNamespace = (): string => `n${(namespaces += 1)}`;
  /** The half minute before a database that was opened gives values. */
  const openNow = (namespace: string) =>
    runSql(server.url, `UPDATE snowlane_sequence_place SET open_ms = 0 WHERE namespace = '${namespace}'`);

  test("move to a file and back, by the same command, and no value comes twice or is left out", async () => {
    const namespace = newNamespace();
    const [here, file] = [server.url, newFile()];
    const words = ["--namespace", namespace];
    const before = openSequences(here, namespace);
    await (await before.catalog()).create({ name: "orders", allocation: "strict" });
    await (await before.catalog()).create({ name: "a.year", period: "year", textTemplate: "{yyyy}-{value}" });
    expect(await before.take(5)).toEqual([1, 2, 3, 4, 5]);
    const copy = await sequences("copy", "--from", here, "--to", file, ...words);
    expect(copy).toMatchObject({ code: 0, stdout: expect.stringContaining("2 sequences with 2 counters moved") });
    expect(copy.stdout).toContain("stays stopped for good");
    // Servers that still name the first one give nothing, and nothing opens it.
    await expect(before.take(1)).rejects.toMatchObject({ reason: "STORE_WENT_BACK" });
    await sequences("raise", "--all", "--by", "0", "--reason", "a test", "--sequence-stores", here, ...words);
    const opened = await sequences("open", "--sequence-stores", here, ...words);
    expect(opened).toMatchObject({ code: 1, stderr: expect.stringContaining("Its sequences were moved to sqlite:") });
    const changed = await sequences("update", "orders", "--max", "9", "--sequence-stores", here, ...words);
    expect(changed).toMatchObject({ code: 4, stderr: expect.stringContaining("moved to") });
    expect((await sequences("copy", "--from", here, "--to", file, ...words)).stdout).toContain("nothing is left to do");
    // Back again, at once: it opened just now.
    expect((await sequences("copy", "--from", file, "--to", here, ...words)).stderr).toContain("half a minute");
    const store = await openSequenceStore(file, { namespace, callTimeoutMs: 20_000 });
    onTestFinished(() => store.close());
    const listed = await store.list({ afterName: "", prefix: "", count: 9 });
    expect(listed.map(({ definition }) => definition.name)).toEqual(["a.year", "orders"]);
    expect((await store.look([{ name: "orders", periodKey: "" }])).counters.get("orders")).toBe(5n);
  });

  test("go on where they were after the way back", async () => {
    const namespace = newNamespace();
    const [here, there] = [newFile(), server.url];
    const options = { namespace, callTimeoutMs: 20_000 };
    const before = openSequences(here, namespace);
    await (await before.catalog()).create({ name: "orders", allocation: "strict" });
    expect(await before.take(3)).toEqual([1, 2, 3]);
    const [from, to] = await Promise.all([openSequenceStore(here, options), openSequenceStore(there, options)]);
    onTestFinished(async () => void (await Promise.all([from.close(), to.close()])));
    const [one, other] = [
      { store: from, place: "sqlite:/here" },
      { store: to, place: "sql:there" },
    ];
    expect(await copyDatabase(one, other)).toEqual({ kind: "copied", sequenceCount: 1, counterCount: 1 });
    const [mine, theirs] = [await from.look([]), await to.look([])];
    expect(theirs.database!.member).toEqual(mine.database!.member);
    await openNow(namespace);
    const moved = openSequences(there, namespace);
    expect(await moved.take(2)).toEqual([4, 5]);
    expect(await copyDatabase(other, one)).toMatchObject({ kind: "copied" });
    await expect(moved.take(1)).rejects.toMatchObject({ reason: "STORE_WENT_BACK" });
    expect((await from.look([{ name: "orders", periodKey: "" }])).counters.get("orders")).toBe(5n);
  });

  test("a take that is on its way when the sequences move is counted in the target, or takes nothing", async () => {
    const namespace = newNamespace();
    const [here, file] = [server.url, newFile()];
    const before = openSequences(here, namespace);
    await (await before.catalog()).create({ name: "orders", allocation: "strict" });
    expect(await before.take(1)).toEqual([1]);
    // The take has its witness row, and waits for the counter.
    const session = await openSqlSession(here);
    onTestFinished(() => session.end());
    await session.run("BEGIN");
    await session.run(`SELECT used_count FROM snowlane_sequence_counter WHERE namespace = '${namespace}' FOR UPDATE`);
    const late = before.take(1).catch(() => []);
    const options = { namespace, callTimeoutMs: 60_000 };
    const [from, to] = await Promise.all([openSequenceStore(here, options), openSequenceStore(file, options)]);
    onTestFinished(async () => void (await Promise.all([from.close(), to.close()])));
    const isWaiting = server.url.startsWith("postgres")
      ? "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
      : "SELECT 1 FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'";
    await expect.poll(() => runSql(here, isWaiting)).not.toEqual([]);
    const copying = copyDatabase({ store: from, place: "sql:here" }, { store: to, place: "sqlite:/there" });
    // It waits for the take, or has stopped the source without it.
    const hasStopped = `SELECT 1 FROM snowlane_sequence_place WHERE namespace = '${namespace}' AND stopped <> ''`;
    const steps = async () => (await runSql(here, isWaiting)).length + (await runSql(here, hasStopped)).length;
    await expect.poll(steps).toBeGreaterThanOrEqual(2);
    await session.run("ROLLBACK");
    await copying;
    const values = await late;
    const { counters } = await to.look([{ name: "orders", periodKey: "" }]);
    expect(Number(counters.get("orders"))).toBeGreaterThanOrEqual(Math.max(1, ...values));
  });
});

test("a database without sequences takes the ID of one that is lost, and gives values only after the runbook", async () => {
  const [lost, fresh] = [newFile(), newFile()];
  const before = openSequences(lost);
  await (await before.catalog()).create({ name: "orders" });
  const old = await openSequenceStore(lost, { namespace: "default", callTimeoutMs: 20_000 });
  const { storeId } = (await old.look([])).database!.member;
  await old.close();
  const place = ["--sequence-stores", fresh];
  const why = ["--reason", "the disk is lost"];
  expect(await sequences("adopt-database", "no", ...place, ...why)).toMatchObject({ code: 2 });
  expect(await sequences("adopt-database", storeId, ...place)).toMatchObject({ code: 2 });
  const inUse = await sequences("adopt-database", storeId, "--sequence-stores", lost, ...why);
  expect(inUse).toMatchObject({ code: 6, stderr: expect.stringContaining("Stop it first") });
  const adopted = await sequences("adopt-database", storeId, ...place, ...why);
  expect(adopted).toMatchObject({ code: 0, stdout: expect.stringContaining(`The database is ${storeId} now`) });
  expect(await sequences("open", ...place)).toMatchObject({ code: 6 });
  const raised = await sequences("raise", "--all", "--by", "1000", ...why, ...place);
  expect(raised.stdout).toContain("sequences that are created later begin 1000 values higher");
  expect(await sequences("open", ...place)).toMatchObject({ code: 0 });
});
