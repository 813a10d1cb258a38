import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { systemClock, systemTimers } from "../../src/clock/clock.ts";
import { kernelRandom128 } from "../../src/kernel-random.ts";
import { openSequenceStore } from "../../src/sequence/open-sequence-store.ts";
import { completeDefinition, endCountOf } from "../../src/sequence/sequence.ts";
import type { SequenceEvent } from "../../src/sequence/sequence-database.ts";
import {
  counterId,
  type NewSequence,
  type SequenceStore,
  type TakeRequest,
} from "../../src/sequence/sequence-store.ts";
import { Sequences } from "../../src/sequence/sequences.ts";
import type { ReservedValues } from "../../src/sequence/value-source.ts";
import { TcpProxy } from "../support/processes/tcp-proxy.ts";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { startMysql } from "../support/servers/mysql-server.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { withPort } from "../support/servers/remote-stores.ts";
import { openSqlSession, runSql } from "../support/servers/run-sql.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import { takeIn } from "../support/worlds/store-calls.ts";

const unavailable = expect.objectContaining({ reason: "STORE_UNAVAILABLE" });
const key = { name: "orders", periodKey: "" };
const counterTable = "snowlane_sequence_counter";

const servers: readonly (readonly [kind: string, start: () => Promise<TestServer>])[] = [
  ["PostgreSQL", () => startPostgres()],
  ["MariaDB", () => startMariadb(["--innodb-lock-wait-timeout=1"])],
  ["MySQL", () => startMysql(["--innodb-lock-wait-timeout=1"])],
];

function takeOf({ definition, sequenceId }: NewSequence["stored"], count = 10): TakeRequest {
  const { name } = definition;
  const writeId = kernelRandom128();
  return { name, periodKey: "", sequenceId, count, endCount: endCountOf(definition), revision: 1, writeId };
}

function open(url: string, namespace: string, callTimeoutMs = 60_000): Promise<SequenceStore> {
  return openSequenceStore(url, { namespace, callTimeoutMs }).then((store) => {
    onTestFinished(() => store.close());
    return store;
  });
}

/** Makes the sequence `orders`, or another. */
async function make(store: SequenceStore, name = "orders"): Promise<NewSequence["stored"]> {
  await store.look([]);
  const definition = completeDefinition({ name });
  const stored = { definition, sequenceId: kernelRandom128(), createdMs: 1_000, updatedMs: 1_000 };
  expect(await store.create({ stored, writeId: kernelRandom128() }, 1)).toBe(true);
  return stored;
}

async function used(store: SequenceStore, of = key): Promise<bigint | undefined> {
  return (await store.look([of])).counters.get(counterId(of));
}

/** Waits until a transaction of the server waits for the lock of another one. */
async function untilWaiting(url: string): Promise<void> {
  const isWaiting = url.startsWith("postgres")
    ? "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    : "SELECT 1 FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'";
  await expect.poll(() => runSql(url, isWaiting)).not.toEqual([]);
}

/** What a call answers, tried again while the database finds its feet. */
async function answered<T>(call: () => Promise<T>): Promise<T> {
  for (const endMs = systemClock.monotonicMs() + 120_000; ; ) {
    try {
      return await call();
    } catch (error) {
      if (systemClock.monotonicMs() > endMs) throw error;
      await sleep(25);
    }
  }
}

test("a take from PostgreSQL waits for a standby although the server's default does not, and a cancelled wait is not a take", async () => {
  const server = await startPostgres(["-c", "synchronous_commit=off"]);
  onTestFinished(() => server.stop());
  const store = await open(server.url, "default");
  const stored = await make(store);
  expect(await takeIn(store, takeOf(stored))).toBe(0n);
  const set = (names: string) =>
    runSql(server.url, `ALTER SYSTEM SET synchronous_standby_names = '${names}'`, "SELECT pg_reload_conf()");
  await set("nobody");
  let last = 0n;
  // The setting reaches the server's processes one after the other: takes go on until one has to wait.
  const takeOn = async (): Promise<never> => {
    for (;;) last = (await takeIn(store, takeOf(stored)))!;
  };
  const outcome = takeOn().catch((error: unknown) => error);
  const cancel = "SELECT pg_cancel_backend(pid) AS is_cancelled FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
  await expect.poll(() => runSql(server.url, cancel)).toEqual([{ is_cancelled: true }]);
  expect(await outcome).toEqual(unavailable);
  await set("");
  // It was committed on this server alone: its range is a gap.
  await expect.poll(() => takeIn(store, takeOf(stored)).catch(() => undefined)).toBe(last + 20n);
});

describe.each(servers)("sequences in a %s", (_kind, start) => {
  let server: TestServer;
  let namespaces = 0;
  const newNamespace = (): string => `n${(namespaces += 1)}`;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(async () => {
    await server.stop();
  });

  test("asked for a take: it is one statement and one round trip", async () => {
    const proxy = await TcpProxy.start(server.port);
    onTestFinished(() => proxy.stop());
    const options = { namespace: newNamespace(), callTimeoutMs: 60_000, connectionCount: 1 };
    const store = await openSequenceStore(withPort(server, proxy.port), options);
    onTestFinished(() => store.close());
    const stored = await make(store);
    // The first one also has the statement prepared.
    await takeIn(store, takeOf(stored));
    const before = proxy.turnCount;
    for (let round = 0; round < 20; round += 1) await takeIn(store, takeOf(stored));
    expect(proxy.turnCount - before).toBe(20);
    // PostgreSQL counts no statements.
    if (server.url.startsWith("postgres")) return;
    const session = await openSqlSession(server.url);
    onTestFinished(() => session.end());
    const questions = async () => Number((await session.run("SHOW GLOBAL STATUS LIKE 'Questions'"))[0]!["Value"]);
    const asked = await questions();
    for (let round = 0; round < 20; round += 1) await takeIn(store, takeOf(stored));
    expect((await questions()) - asked).toBe(21);
  });

  test("that is frozen while nine tenths of a step are handed out: no caller waits, and then each waits its own time", async () => {
    const step = 1_000;
    const sequences = new Sequences({
      storeUrls: [server.url],
      store: { namespace: newNamespace(), callTimeoutMs: 1_000 },
      waitMaxMs: 2_000,
      namesMax: 10,
      clock: systemClock,
      timers: systemTimers,
      onEvent: () => {},
    });
    onTestFinished(() => sequences.close(1_000));
    const create = async () => (await sequences.catalog()).create({ name: "orders", stepMin: step, stepMax: step });
    await answered(create);
    const source = await answered(async () => sequences.open("orders"));
    const draw = () => source.reserve({ count: 1, priority: "unary" });
    const valueOf = ({ runs }: ReservedValues): bigint => runs[0]!.firstValue;
    const values = [valueOf(await answered(async () => draw()))];
    // The worst moment: the next value is the one at which a further step is asked for.
    while (values.length < step / 10 - 1) values.push(valueOf(await draw()));
    server.pause();
    try {
      while (values.length < step) {
        const drawn = draw();
        expect(drawn).not.toBeInstanceOf(Promise);
        values.push(valueOf(await drawn));
      }
      const beganMs = systemClock.monotonicMs();
      await expect(draw()).rejects.toMatchObject({ reason: "STORE_UNAVAILABLE", retryAfterMs: expect.any(Number) });
      expect(systemClock.monotonicMs() - beganMs).toBeGreaterThanOrEqual(1_999);
    } finally {
      server.resume();
    }
    values.push(valueOf(await answered(async () => draw())));
    expect(values).toEqual(values.toSorted((a, b) => (a < b ? -1 : 1)));
    expect(new Set(values).size).toBe(step + 1);
  });

  test("that is frozen: a take ends in STORE_UNAVAILABLE, and none after it overlaps", async () => {
    const namespace = newNamespace();
    const [patient, hasty] = [await open(server.url, namespace), await open(server.url, namespace, 1_000)];
    const stored = await make(patient);
    await answered(() => hasty.look([]));
    server.pause();
    try {
      await expect(takeIn(hasty, takeOf(stored))).rejects.toEqual(unavailable);
      await expect(hasty.look([key])).rejects.toEqual(unavailable);
      const { sequenceId, writeId, revision } = takeOf(stored);
      const range = { ...key, sequenceId, writeId, revision, firstIndex: 0n, endIndex: 1n, newWriteId: "new" };
      const answers = await Promise.allSettled(Array.from({ length: 3_000 }, () => hasty.giveBack(range)));
      expect(answers.every((answer) => answer.status === "rejected")).toBe(true);
    } finally {
      server.resume();
    }
    // Nothing, or the take that got no answer. It may also land later: then ours begins above it.
    const before = (await used(patient))!;
    expect([0n, 10n]).toContain(before);
    const first = (await answered(() => takeIn(patient, takeOf(stored))))!;
    expect(first).toBeGreaterThanOrEqual(before);
    expect(await used(patient)).toBeGreaterThanOrEqual(first + 10n);
  });

  test("that is killed: what was answered is kept, and takes go on above it", async () => {
    const store = await open(server.url, newNamespace(), 2_000);
    const stored = await answered(() => make(store));
    const first = (await answered(() => takeIn(store, takeOf(stored))))!;
    await server.kill();
    try {
      await expect(takeIn(store, takeOf(stored))).rejects.toEqual(unavailable);
    } finally {
      await server.restart();
    }
    const { database, identity } = await answered(() => store.look([key]));
    expect(database).toMatchObject({ stopped: "", identity });
    expect((await answered(() => takeIn(store, takeOf(stored))))!).toBeGreaterThanOrEqual(first + 10n);
  });

  test("whose answers are lost: a range that nobody knows to have landed is never handed out", async () => {
    const proxy = await TcpProxy.start(server.port);
    onTestFinished(() => proxy.stop());
    const events: SequenceEvent[] = [];
    const sequences = new Sequences({
      storeUrls: [withPort(server, proxy.port)],
      store: { namespace: newNamespace(), callTimeoutMs: 1_000 },
      waitMaxMs: 60_000,
      namesMax: 10,
      clock: systemClock,
      timers: systemTimers,
      onEvent: (event) => events.push(event),
    });
    onTestFinished(() => sequences.close(1_000));
    const create = async () => (await sequences.catalog()).create({ name: "orders", allocation: "strict" });
    await answered(create);
    const source = await answered(async () => sequences.open("orders"));
    const next = async (): Promise<bigint> => {
      const { runs } = await answered(async () => source.reserve({ count: 1, priority: "unary" }));
      return runs[0]!.firstValue;
    };
    const values = [await next()];
    for (let round = 0; round < 3; round += 1) {
      proxy.mode = "deaf";
      const waiting = next();
      const isDiscarded = () => events.filter(({ kind }) => kind === "range-discarded").length > round;
      await expect.poll(isDiscarded).toBe(true);
      proxy.mode = "open";
      proxy.cut();
      values.push(await waiting, await next());
    }
    expect(new Set(values).size).toBe(values.length);
    expect(values).toEqual(values.toSorted((a, b) => (a < b ? -1 : 1)));
    expect(values.at(-1)).toBeGreaterThan(BigInt(values.length));
  });

  test("in which others hold locks: a take waits for them, and loses no race for good", async () => {
    const namespace = newNamespace();
    const store = await open(server.url, namespace);
    const stored = await make(store);
    const session = await openSqlSession(server.url);
    onTestFinished(() => session.end());
    await session.run("BEGIN");
    await session.run(`UPDATE ${counterTable} SET used_count = 100 WHERE namespace = '${namespace}'`);
    const waiting = takeIn(store, takeOf(stored));
    // MariaDB and MySQL give up such a wait after the second that this server allows.
    const isOver = await Promise.race([waiting.then(() => true), sleep(1_500, false)]);
    expect(isOver).toBe(false);
    await session.run("COMMIT");
    expect(await waiting).toBe(100n);
  });

  test("in which a raise is being written: a period that begins meanwhile begins above it, once", async () => {
    const namespace = newNamespace();
    const store = await open(server.url, namespace);
    const stored = await make(store);
    const session = await openSqlSession(server.url);
    onTestFinished(() => session.end());
    await session.run("BEGIN");
    const raise = "raised_count = 50, raised_until_ms = 9000000000000";
    await session.run(`UPDATE snowlane_sequence_place SET ${raise} WHERE namespace = '${namespace}'`);
    const period = { name: "orders", periodKey: "2026" };
    const beginning = store.beginPeriod({ ...takeOf(stored), ...period }, 0);
    // It waits for the raise. Where it did not, it would be over by then, at nothing.
    await Promise.race([beginning, sleep(1_500)]);
    await session.run("COMMIT");
    await beginning;
    expect(await used(store, period)).toBe(50n);
    // The raise is not added again by a take, nor by another server that begins the period.
    for (const first of [50n, 60n]) {
      await store.beginPeriod({ ...takeOf(stored), ...period }, 0);
      expect(await takeIn(store, { ...takeOf(stored), ...period })).toBe(first);
    }
  });

  test("in which another change is under way: a raise waits for it, and holds no counter meanwhile", async () => {
    const namespace = newNamespace();
    const store = await open(server.url, namespace);
    const stored = await make(store);
    const session = await openSqlSession(server.url);
    onTestFinished(() => session.end());
    await session.run("BEGIN");
    await session.run(`SELECT 1 FROM snowlane_sequence_place WHERE namespace = '${namespace}' FOR UPDATE`);
    const raising = store.raise({ kind: "by", key, count: 5n }, kernelRandom128());
    await untilWaiting(server.url);
    const row = `SELECT used_count FROM ${counterTable} WHERE namespace = '${namespace}' FOR UPDATE NOWAIT`;
    expect((await runSql(server.url, row)).map(({ used_count: usedCount }) => Number(usedCount))).toEqual([0]);
    await session.run("COMMIT");
    expect(await raising).toBe(1);
    expect(await takeIn(store, takeOf(stored))).toBe(5n);
  });

  test("in which periods are being pruned: one of them that is to begin meanwhile waits, and does not begin", async () => {
    const namespace = newNamespace();
    const store = await open(server.url, namespace);
    const stored = await make(store);
    const session = await openSqlSession(server.url);
    onTestFinished(() => session.end());
    const ofNamespace = `WHERE namespace = '${namespace}'`;
    await session.run("BEGIN");
    await session.run(`SELECT 1 FROM snowlane_sequence ${ofNamespace} FOR UPDATE`);
    const period = { name: "orders", periodKey: "2026" };
    const beginning = store.beginPeriod({ ...takeOf(stored), ...period }, 0);
    await untilWaiting(server.url);
    await session.run(`UPDATE snowlane_sequence SET closed_before = '2027' ${ofNamespace}`);
    await session.run("COMMIT");
    expect(await beginning).toBe(0);
    expect(await used(store, period)).toBeUndefined();
  });

  test("in which a change is under way: a process that makes its rows waits for it", async () => {
    const namespace = newNamespace();
    const store = await open(server.url, namespace);
    await store.look([]);
    const session = await openSqlSession(server.url);
    onTestFinished(() => session.end());
    await session.run("BEGIN");
    await session.run(`SELECT 1 FROM snowlane_sequence_place WHERE namespace = '${namespace}' FOR UPDATE`);
    const rows = [{ line: 0, writeId: "0 p" }];
    const making = store.makeWitness({ processId: "p", rows, server: "a", seenMs: 1, epoch: 0, formerId: "" });
    await untilWaiting(server.url);
    await session.run("COMMIT");
    await making;
    expect(await store.servers()).toEqual([{ processId: "p", server: "a", seenMs: 1, epoch: 0 }]);
  });

  test("in which another server is making the row of a namespace: a look waits, and finds that row", async () => {
    const [namespace, made] = [newNamespace(), newNamespace()];
    await (await open(server.url, made)).look([]);
    const store = await open(server.url, namespace);
    const session = await openSqlSession(server.url);
    onTestFinished(() => session.end());
    await session.run("BEGIN");
    await session.run(
      `INSERT INTO snowlane_sequence_place (namespace, identity, stopped, revision, open_ms, raised_count,
        raised_until_ms, store_id) SELECT '${namespace}', identity, '', 1, 0, 0, 0, 'of the other server'
        FROM snowlane_sequence_place WHERE namespace = '${made}'`,
    );
    const looking = store.look([]);
    await untilWaiting(server.url);
    await session.run("COMMIT");
    expect((await looking).database!.member.storeId).toBe("of the other server");
  });

  test("in which servers raise the same counters in every order: deadlocks end, and every counter is raised", async () => {
    const namespace = newNamespace();
    const stores = await Promise.all(Array.from({ length: 6 }, () => open(server.url, namespace)));
    const names = Array.from({ length: 40 }, (_, index) => `s${index}`);
    for (const name of names) await make(stores[0]!, name);
    const marksOf = (round: number, turn: number) => {
      const turned = [...names.slice(turn * 6), ...names.slice(0, turn * 6)];
      const ordered = turn % 2 === 0 ? turned : turned.toReversed();
      return ordered.map((name) => ({ name, periodKey: "", index: BigInt(round * 10 + turn) }));
    };
    for (let round = 1; round <= 5; round += 1) {
      await Promise.all(stores.map((store, turn) => store.cover(marksOf(round, turn), kernelRandom128())));
    }
    const { counters } = await stores[0]!.look(names.map((name) => ({ name, periodKey: "" })));
    expect([...counters.values()]).toEqual(names.map(() => 55n));
  });

  test("whose table is made again under a live connection: nothing is taken, and the look shows another identity", async () => {
    const store = await open(server.url, newNamespace());
    const stored = await make(store);
    expect(await takeIn(store, takeOf(stored))).toBe(0n);
    const { identity } = await store.look([]);
    const like = server.url.startsWith("postgres") ? `(LIKE ${counterTable} INCLUDING ALL)` : `LIKE ${counterTable}`;
    // MariaDB and MySQL tell tables apart by the second in which they were made.
    await sleep(1_100);
    await runSql(
      server.url,
      `CREATE TABLE made_again ${like}`,
      `INSERT INTO made_again SELECT * FROM ${counterTable}`,
      `DROP TABLE ${counterTable}`,
      `ALTER TABLE made_again RENAME TO ${counterTable}`,
    );
    expect(await answered(() => takeIn(store, takeOf(stored)))).toBeUndefined();
    const look = await store.look([key]);
    expect(look.database!.identity).toBe(identity);
    expect(look.identity).not.toBe(identity);
  });

  test("that has lost a table: it is never made again, also not by a server that starts", async () => {
    const own = await start();
    onTestFinished(() => own.stop());
    const store = await open(own.url, "default");
    const stored = await make(store);
    expect(await takeIn(store, takeOf(stored))).toBe(0n);
    await runSql(own.url, `DROP TABLE ${counterTable}`);
    await expect(takeIn(store, takeOf(stored))).rejects.toMatchObject({ reason: "STORE_UNAVAILABLE" });
    await expect(takeIn(store, takeOf(stored))).rejects.toMatchObject({ reason: "STORE_WENT_BACK" });
    const late = await open(own.url, "default");
    await expect(late.look([])).rejects.toMatchObject({ reason: "STORE_WENT_BACK" });
  });

  test("whose tables a newer release has changed: an older one is refused, with the reason", async () => {
    const own = await start();
    onTestFinished(() => own.stop());
    await make(await open(own.url, "default"));
    await runSql(own.url, "INSERT INTO snowlane_sequence_schema (step) VALUES (99)");
    const refusal = async (): Promise<unknown> =>
      (await open(own.url, "default")).look([]).catch((error: unknown) => error);
    expect(await refusal()).toMatchObject({ reason: "INVALID_CONFIG", metadata: { version: "99" } });
    await runSql(own.url, "UPDATE snowlane_sequence_schema SET program = '2.0.0' WHERE step = 99");
    expect(await refusal()).toMatchObject({
      message: expect.stringMatching(/version 99, .* Install Snowlane 2\.0\.0\.$/),
    });
  });

  test("whose tables an older release has made: they are brought to the newest form, and counters stay", async () => {
    const own = await start();
    onTestFinished(() => own.stop());
    const before = await open(own.url, "default");
    const stored = await make(before);
    expect(await takeIn(before, takeOf(stored))).toBe(0n);
    await before.close();
    const second = ["store_id", "stripe_index", "stripe_count", "members"];
    const columns = [...second, "epoch", "raised_revision", "raised_identity", "emptied_revision"];
    const drops = columns.map((column) => `DROP COLUMN ${column}`).join(", ");
    await runSql(own.url, `ALTER TABLE snowlane_sequence_place ${drops}`);
    await runSql(own.url, "DROP TABLE snowlane_sequence_witness");
    await runSql(own.url, "ALTER TABLE snowlane_sequence DROP COLUMN epoch");
    // MySQL and MariaDB have this column from the first step on: a change of this table makes it another one to them.
    if (own.url.startsWith("postgres")) await runSql(own.url, `ALTER TABLE ${counterTable} DROP COLUMN taken_count`);
    await runSql(own.url, "DELETE FROM snowlane_sequence_schema WHERE step >= 2");
    await runSql(own.url, "ALTER TABLE snowlane_sequence_schema DROP COLUMN program");
    const stores = await Promise.all(Array.from({ length: 4 }, () => open(own.url, "default")));
    const looks = await Promise.all(stores.map((store) => store.look([])));
    const storeIds = new Set(looks.map(({ database }) => database!.member.storeId));
    expect([...storeIds]).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)]);
    for (const { database } of looks) expect(database!.member).toMatchObject({ index: 0, count: 1, members: "" });
    expect(await takeIn(stores[0]!, takeOf(stored))).toBe(10n);
    // A step that was done, and not noted, is done again, and draws no other ID.
    await runSql(own.url, "DELETE FROM snowlane_sequence_schema WHERE step >= 2");
    const again = await open(own.url, "default");
    expect(await takeIn(again, takeOf(stored))).toBe(20n);
    expect((await again.look([])).database!.member.storeId).toBe(looks[0]!.database!.member.storeId);
  });

  test("in which servers start at once: the tables are made once, and so is the row of a namespace", async () => {
    const own = await start();
    onTestFinished(() => own.stop());
    const stores = await Promise.all(Array.from({ length: 8 }, () => open(own.url, "default")));
    const looks = await Promise.all(stores.map((store) => store.look([])));
    expect(new Set(looks.map(({ identity }) => identity)).size).toBe(1);
    const steps = await runSql(own.url, "SELECT step FROM snowlane_sequence_schema");
    expect(steps.map(({ step }) => Number(step))).toEqual([1, 2, 3, 4]);
    expect(looks.map(({ database }) => database?.revision)).toEqual(looks.map(() => 1));
  });

  /** A stop with thousands of sequences in memory would otherwise take longer than a call may, and leave gaps. */
  test("to which a thousand ranges go back at once: they share statements, and each goes back by its own conditions", async () => {
    const namespace = newNamespace();
    const store = await open(server.url, namespace);
    const { sequenceId } = await make(store);
    const names = Array.from({ length: 1_100 }, (_, index) => `o${index}`);
    const ofNames = names.map((name) => `SELECT '${name}' AS name`).join(" UNION ALL ");
    await runSql(
      server.url,
      `INSERT INTO snowlane_sequence (namespace, name, start_value, increment, value_max, allocation, step_min,
        step_max, period, time_zone, text_template, description, disabled, created_ms, updated_ms, sequence_id, epoch)
        SELECT t.namespace, n.name, start_value, increment, value_max, allocation, step_min,
        step_max, period, time_zone, text_template, description, disabled, created_ms, updated_ms, sequence_id, epoch
        FROM snowlane_sequence t CROSS JOIN (${ofNames}) n WHERE t.namespace = '${namespace}'`,
      `INSERT INTO ${counterTable} SELECT namespace, name, '', 10, 'taken', 10 FROM snowlane_sequence
        WHERE namespace = '${namespace}' AND name <> 'orders'`,
    );
    const ranges = names.map((name) => ({
      name,
      periodKey: "",
      sequenceId,
      firstIndex: 4n,
      endIndex: 10n,
      writeId: "taken",
      newWriteId: kernelRandom128(),
      revision: 1,
    }));
    ranges[100]!.writeId = "other";
    ranges[600]!.endIndex = 9n;
    ranges[700]!.sequenceId = "0".repeat(32);
    ranges[800]!.revision = 2;
    // One of them twice.
    const given = await Promise.all([ranges[5]!, ...ranges].map((one) => store.giveBack(one)));
    const kept = given.flatMap((isGiven, at) => (isGiven ? [] : [at]));
    expect(kept).toEqual([6, 101, 601, 701, 801]);
    const rows = await runSql(
      server.url,
      `SELECT used_count, COUNT(*) AS counters, COUNT(DISTINCT write_id) AS writes FROM ${counterTable}
        WHERE namespace = '${namespace}' AND name <> 'orders' GROUP BY used_count ORDER BY used_count`,
    );
    const counts = rows.map((row) => Object.values(row).map(Number));
    expect(counts).toEqual([
      [4, 1_096, 5],
      [10, 4, 1],
    ]);
  });

  test("that answers a look at a thousand names in one statement", async () => {
    const store = await open(server.url, newNamespace());
    await make(store);
    const names = Array.from({ length: 999 }, (_, index) => ({ name: `none${index}`, periodKey: "" }));
    const { sequences, counters } = await store.look([...names, key]);
    expect([...sequences.keys()]).toEqual(["orders"]);
    expect([...counters]).toEqual([[counterId(key), 0n]]);
  });
});
