/** Losses that do not show by the identity, and changes that have to reach what servers hold in memory. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openSequenceStore } from "../../src/sequence/open-sequence-store.ts";
import { completeDefinition, endCountOf } from "../../src/sequence/sequence.ts";
import { kernelRandom128 } from "../../src/kernel-random.ts";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { startMysql } from "../support/servers/mysql-server.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { TcpProxy } from "../support/processes/tcp-proxy.ts";
import { withPort } from "../support/servers/remote-stores.ts";
import { runSql } from "../support/servers/run-sql.ts";
import { readRows, writeRows } from "../support/servers/table-rows.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import { openSequences } from "../support/worlds/opened-sequences.ts";
import { takeIn } from "../support/worlds/store-calls.ts";

const servers = [
  ["PostgreSQL", () => startPostgres()],
  ["MariaDB", () => startMariadb()],
  ["MySQL", () => startMysql()],
] as const;
const tables = [
  "snowlane_sequence",
  "snowlane_sequence_counter",
  "snowlane_sequence_place",
  "snowlane_sequence_witness",
] as const;
const regressed = expect.objectContaining({ reason: "STORE_WENT_BACK" });
const steps = { name: "orders", stepMin: 100, stepMax: 100 };

describe.each(servers)("sequences in %s", (_kind, start) => {
  let server: TestServer;
  let namespaces = 0;
  const newNamespace = (): string => `n${(namespaces += 1)}`;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(async () => {
    await server.stop();
  });

  /** The reason of the stop; MySQL and MariaDB give it as bytes. */
  const stopped = async (namespace: string): Promise<string> => {
    const [row] = await runSql(
      server.url,
      `SELECT stopped FROM snowlane_sequence_place WHERE namespace = '${namespace}'`,
    );
    return String(row?.["stopped"]);
  };

  test("a counter that somebody lowered gives nothing to anybody (another server took past it, and values came twice)", async () => {
    const namespace = newNamespace();
    const [first, other] = [openSequences(server.url, namespace), openSequences(server.url, namespace)];
    await (await first.catalog()).create(steps);
    expect((await first.take(250)).length).toBe(250);
    await runSql(server.url, `UPDATE snowlane_sequence_counter SET used_count = 0 WHERE namespace = '${namespace}'`);
    await expect(other.take(1)).rejects.toEqual(regressed);
    expect(await stopped(namespace)).toContain("the counter of orders is at 0");
    // Values on both sides of the loss may be in memory.
    const outcome = () => first.take(1).catch(({ reason }: { readonly reason: string }) => reason);
    await expect.poll(outcome).toBe("STORE_WENT_BACK");
  });

  test("older rows of all tables are found by a server that is idle, although another one took past its mark", async () => {
    const own = await start();
    onTestFinished(() => own.stop());
    const first = openSequences(own.url);
    await (await first.catalog()).create(steps);
    expect((await first.take(20)).length).toBe(20);
    const rows = await readRows(own.url, tables);
    expect((await first.take(100)).length).toBe(100);
    await writeRows(own.url, rows);
    const other = openSequences(own.url);
    // Past the mark of the first server, unless that looks before.
    await other.take(500).catch(() => []);
    const reason = async () =>
      String((await runSql(own.url, "SELECT stopped FROM snowlane_sequence_place"))[0]?.["stopped"]);
    await expect.poll(reason).toContain("the takes of a running server are gone");
    const outcomeOf = (from: typeof first) => from.take(1).catch((error: { readonly reason: string }) => error.reason);
    for (const one of [first, other]) {
      await expect.poll(() => outcomeOf(one)).toBe("STORE_WENT_BACK");
    }
  });

  test("counters of periods that a job deleted stop the database before a period begins again (its values came twice)", async () => {
    const namespace = newNamespace();
    const first = openSequences(server.url, namespace);
    await (await first.catalog()).create({ name: "orders", allocation: "strict", period: "year" });
    expect((await first.take(12)).at(-1)).toBe(12);
    await first.close();
    const isPeriod = `namespace = '${namespace}' AND period_key <> ''`;
    await runSql(server.url, `DELETE FROM snowlane_sequence_counter WHERE ${isPeriod}`);
    const next = openSequences(server.url, namespace);
    await expect(next.take(1)).rejects.toEqual(regressed);
    expect(await stopped(namespace)).toContain("a counter of orders is gone, of periods that were begun");
    // Raised and opened, a period that was lost begins above the raise.
    const operator = await openSequences(server.url, namespace).catalog();
    expect(await operator.raise({ kind: "all", count: 100n })).toBe(1);
    expect(await operator.open()).toMatchObject({ kind: "opened" });
    await runSql(server.url, `UPDATE snowlane_sequence_place SET open_ms = 0 WHERE namespace = '${namespace}'`);
    expect(await openSequences(server.url, namespace).take(1)).toEqual([101]);
  });

  test("a server whose clock is behind gets no value of a period that was pruned, and stops nothing", async () => {
    const namespace = newNamespace();
    const dayMs = 86_400_000;
    const days = [12, 11, 10, 9, 0].map((behind) => openSequences(server.url, namespace, behind * dayMs));
    await (await days[0]!.catalog()).create({ name: "orders", period: "day", stepMin: 10, stepMax: 10 });
    for (const day of days) expect(await day.take(3)).toEqual([1, 2, 3]);
    const operator = await days.at(-1)!.catalog();
    const dayBefore = (behind: number): string => new Date(Date.now() - behind * dayMs).toISOString().slice(0, 10);
    await expect(operator.prune(["orders"], dayBefore(1), "write")).rejects.toThrow("has not begun for two days");
    await expect(operator.prune(["orders"], dayBefore(-1), "write")).rejects.toThrow("has not begun for two days");
    await expect((await days[0]!.catalog()).prune(["orders"], dayBefore(20), "write")).rejects.toThrow("apart");
    const newest = await operator.prune(["orders"], dayBefore(5), "write");
    expect(newest).toMatchObject([{ outcome: { kind: "newest", key: dayBefore(9) } }]);
    expect(await operator.prune(undefined, dayBefore(9), "write")).toMatchObject([{ outcome: { count: 3 } }]);
    // It still gives the values in its memory.
    expect((await days[0]!.take(7)).at(-1)).toBe(10);
    await expect(days[0]!.take(1_000)).rejects.toMatchObject({ reason: "PERIOD_CLOSED" });
    await expect(openSequences(server.url, namespace, 11 * dayMs).take(1)).rejects.toMatchObject({
      reason: "PERIOD_CLOSED",
    });
    // Each of them looks, and misses nothing.
    await operator.update({ name: "orders", change: { disabled: true } });
    await expect.poll(() => operator.behind("orders", Number.POSITIVE_INFINITY)).toEqual([]);
    expect(await stopped(namespace)).toBe("");
    await operator.update({ name: "orders", change: { disabled: false } });
    expect((await openSequences(server.url, namespace, 9 * dayMs).take(1))[0]).toBeGreaterThan(3);
  });

  test("a take compares the identity of the database, its revision, and the row of its line", async () => {
    const namespace = newNamespace();
    const store = await openSequenceStore(server.url, { namespace, callTimeoutMs: 60_000 });
    onTestFinished(() => store.close());
    await store.look([]);
    const definition = completeDefinition({ name: "orders" });
    const sequenceId = kernelRandom128();
    await store.create({ stored: { definition, sequenceId, createdMs: 1, updatedMs: 1 }, writeId: "made" }, 1);
    const take = () => {
      const writeId = kernelRandom128();
      const key = { name: "orders", periodKey: "", sequenceId, revision: 1 };
      return takeIn(store, { ...key, count: 10, endCount: endCountOf(definition), writeId });
    };
    expect(await take()).toBe(0n);
    const where = `WHERE namespace = '${namespace}'`;
    const changes = [
      ["snowlane_sequence_place", "identity", "'another'"],
      ["snowlane_sequence_place", "revision", "7"],
      ["snowlane_sequence_place", "stopped", "'a test'"],
      ["snowlane_sequence_witness", "write_id", "'0 of another'"],
      ["snowlane_sequence_counter", "used_count", "9"],
      ["snowlane_sequence", "sequence_id", "'another'"],
    ] as const;
    for (const [table, column, value] of changes) {
      const keep = `${table}_kept`;
      await runSql(
        server.url,
        `CREATE TABLE ${keep} AS SELECT * FROM ${table} ${where}`,
        `UPDATE ${table} SET ${column} = ${value} ${where}`,
      );
      expect(await take(), column).toBeUndefined();
      await runSql(
        server.url,
        `DELETE FROM ${table} ${where}`,
        `INSERT INTO ${table} SELECT * FROM ${keep}`,
        `DROP TABLE ${keep}`,
      );
      expect(await take(), column).not.toBeUndefined();
    }
  });

  test("an opening takes over the identity, needs a raise of this database, and leaves other namespaces stopped", async () => {
    const [namespace, other] = [newNamespace(), newNamespace()];
    const stores = await Promise.all(
      [namespace, other].map((each) => openSequenceStore(server.url, { namespace: each, callTimeoutMs: 60_000 })),
    );
    onTestFinished(() => Promise.all(stores.map((store) => store.close())).then(() => {}));
    const [store] = stores;
    for (const each of stores) {
      await each.look([]);
      await each.stop({ reason: "a test", revision: 1, emptiesStock: false, by: "operator" });
      await each.raise({ kind: "all", count: 0n }, "w");
    }
    const set = (change: string) =>
      runSql(server.url, `UPDATE snowlane_sequence_place SET ${change} WHERE namespace = '${namespace}'`);
    const { identity } = await store!.look([]);
    await set("raised_identity = 'another'");
    expect(await store!.open()).toEqual({ kind: "not-raised" });
    // A revision is above every other one, also where the clock was ahead of this one once.
    await set("identity = 'another', revision = 9000000000000000");
    await store!.raise({ kind: "all", count: 0n }, "w");
    expect(await store!.open()).toEqual({ kind: "opened", revision: 9_000_000_000_000_001 });
    expect((await store!.look([])).database).toMatchObject({ stopped: "", identity });
    expect(await stopped(other)).toBe("a test");
  });

  test("a server that is cut off is listed as one that has not seen a change, and never gives its old values afterwards", async () => {
    const namespace = newNamespace();
    const proxy = await TcpProxy.start(server.port);
    onTestFinished(() => proxy.stop());
    const cut = openSequences(withPort(server, proxy.port), namespace);
    await (await cut.catalog()).create({ name: "orders", stepMin: 1_000 });
    expect((await cut.take(10)).at(-1)).toBe(10);
    proxy.mode = "deaf";
    proxy.cut();
    const operator = await openSequences(server.url, namespace).catalog();
    await operator.update({ name: "orders", change: { disabled: true } });
    expect((await operator.behind("orders", Number.POSITIVE_INFINITY)).length).toBe(1);
    // It gives what it has: that an outage is not noticed is promised.
    expect(await cut.take(1)).toEqual([11]);
    await operator.raise({ kind: "to", name: "orders", value: 5_001n });
    await operator.update({ name: "orders", change: { disabled: false } });
    proxy.mode = "open";
    proxy.cut();
    await expect.poll(() => operator.behind("orders", Number.POSITIVE_INFINITY)).toEqual([]);
    expect((await cut.take(1))[0]).toBeGreaterThanOrEqual(5_001);
  });
});
