/** Sequences over several real databases. */
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemClock, systemTimers } from "../../src/clock/clock.ts";
import type { SequenceEvent } from "../../src/sequence/sequence-database.ts";
import { adoptDatabase } from "../../src/sequence/adopt-database.ts";
import { openSequenceStore } from "../../src/sequence/open-sequence-store.ts";
import { Sequences } from "../../src/sequence/sequences.ts";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { runSql } from "../support/servers/run-sql.ts";
import { dumpDatabase, putDump } from "../support/servers/sql-dump.ts";
import type { TestServer } from "../support/servers/test-server.ts";

async function started(starting: Promise<TestServer>): Promise<TestServer> {
  const server = await starting;
  onTestFinished(() => server.stop());
  return server;
}

/** The sequences of one server of Snowlane. */
function open(storeUrls: readonly string[], stripeCount?: number, waitMaxMs = 60_000, callTimeoutMs = 10_000) {
  const events: SequenceEvent[] = [];
  const sequences = new Sequences({
    storeUrls,
    stripeCount,
    store: { namespace: "default", callTimeoutMs },
    waitMaxMs,
    namesMax: 10,
    clock: systemClock,
    timers: systemTimers,
    onEvent: (event) => events.push(event),
  });
  onTestFinished(() => sequences.close(1_000));
  const seen = new Set<bigint>();
  /** Takes values until both, or all, of some residues have come; none may come twice, and no call may fail. */
  const takeUntil = async (residues: readonly bigint[], count = 200): Promise<void> => {
    const missing = new Set(residues);
    let taken = 0;
    for (const endMs = systemClock.monotonicMs() + 120_000; missing.size > 0 || taken < count; ) {
      if (systemClock.monotonicMs() > endMs) throw new Error(`no value of ${[...missing].join(", ")}`);
      const source = await sequences.open("orders");
      const { runs } = await source.reserve({ count: 5, priority: "unary" });
      for (const { firstValue, count: length, increment } of runs) {
        for (let at = 0n; at < length; at += 1n) {
          const value = firstValue + at * increment;
          expect(seen.has(value)).toBe(false);
          seen.add(value);
          missing.delete((value - 1n) % 3n);
          taken += 1;
        }
      }
    }
  };
  return { sequences, events, seen, takeUntil, catalog: () => sequences.catalog() };
}

test("PostgreSQL and MariaDB share a sequence: either may freeze or die and no call fails, and SQLite joins them later", async () => {
  const [postgres, mariadb] = await Promise.all([started(startPostgres()), started(startMariadb())]);
  const urls = [postgres.url, mariadb.url];
  const [one, other] = [open(urls, 3), open(urls.toReversed(), 3)];
  const made = { name: "orders", stepMin: 10, stepMax: 10 };
  // Both servers make the databases theirs at once, in another order each.
  await Promise.all([(await one.catalog()).create(made), (await other.catalog()).create(made)]);
  await Promise.all([one.takeUntil([0n, 1n]), other.takeUntil([0n, 1n])]);

  postgres.pause();
  const frozen = one.takeUntil([], 300);
  await expect.poll(() => one.events.map(({ kind }) => kind)).toContain("stripe-problem");
  await frozen;
  postgres.resume();
  await mariadb.kill();
  await one.takeUntil([], 300);
  // The definition of a sequence is changed in all of them or refused.
  const change = { name: "orders", change: { disabled: true } };
  await expect((await one.catalog()).update(change)).rejects.toMatchObject({ reason: "STORE_UNAVAILABLE" });
  await mariadb.restart();
  await expect
    .poll(
      async () => (await one.catalog()).update({ name: "orders", change: { disabled: false } }).catch(() => undefined),
      {
        timeout: 60_000,
      },
    )
    .toMatchObject({ etag: expect.any(String) });
  await one.takeUntil([0n, 1n]);
  expect(one.events.map(({ kind }) => kind)).toContain("stripe-answers");

  const file = `sqlite:${join(temporaryFolder(), "third.db")}`;
  await expect((await open([...urls, file], 3).catalog()).check()).rejects.toThrow("add-database");
  expect(await one.sequences.addDatabase(file)).toEqual({ sequenceCount: 1, stripe: { index: 2, count: 3 } });
  // Again: nothing is given twice.
  expect(await one.sequences.addDatabase(file)).toEqual({ sequenceCount: 1, stripe: { index: 2, count: 3 } });
  const all = open([file, ...urls]);
  await all.takeUntil([0n, 1n, 2n]);
  // A server that still names two goes on; definitions need all.
  await one.takeUntil([0n, 1n]);
  await expect((await one.catalog()).create({ name: "late" })).rejects.toThrow(
    "2 of 3 databases of sequences are named",
  );
  expect(new Set([...one.seen, ...other.seen, ...all.seen]).size).toBe(one.seen.size + other.seen.size + all.seen.size);
});

test("a frozen database fails no call that finds no value in memory, also while a server starts (it did)", async () => {
  const [postgres, mariadb] = await Promise.all([started(startPostgres()), started(startMariadb())]);
  const urls = [postgres.url, mariadb.url];
  const names = Array.from({ length: 20 }, (_, index) => `rare${index}`);
  const first = open(urls, 2);
  for (const name of names) await (await first.catalog()).create({ name, stepMin: 10, stepMax: 10 });
  await first.sequences.close(1_000);

  // A call waits less than a statement does, for which a frozen database is waited for.
  const [waitMaxMs, callTimeoutMs] = [12_000, 15_000];
  const running = open(urls, 2, waitMaxMs, callTimeoutMs);
  const seen = new Set<string>();
  const next = async ({ sequences }: ReturnType<typeof open>, name: string): Promise<void> => {
    const source = await sequences.open(name);
    const { runs } = await source.reserve({ count: 1, priority: "unary" });
    const value = `${name} ${runs[0]!.firstValue}`;
    expect(seen).not.toContain(value);
    seen.add(value);
  };
  for (const name of names.slice(0, 5)) await next(running, name);
  postgres.pause();
  const begun = open(urls, 2, waitMaxMs, callTimeoutMs);
  for (const name of names) await Promise.all([next(running, name), next(begun, name)]);
  const kindsOf = (one: typeof begun) => one.events.map(({ kind }) => kind);
  // Its log names the one that did not answer when it started, and tells when that one is used.
  await expect.poll(() => kindsOf(begun)).toContain("stripe-problem");
  postgres.resume();
  const afterNext = async () => {
    await next(begun, names[0]!);
    return kindsOf(begun);
  };
  await expect.poll(afterNext).toContain("stripe-answers");
  expect([...running.events, ...begun.events].filter(({ kind }) => kind === "stopped")).toEqual([]);
});

test("a lost database gets a successor from a dump of another one", async () => {
  const server = await started(startPostgres());
  const urlOf = (name: string): string => server.url.replace(/\/postgres$/, `/${name}`);
  for (const name of ["a", "b", "successor"]) await runSql(server.url, `CREATE DATABASE ${name}`);
  const first = open([urlOf("a"), urlOf("b")], 3);
  await (await first.catalog()).create({ name: "orders", stepMin: 10, stepMax: 10 });
  // Of the second stripe much more is taken than of the first: the copied counters are far too low.
  await first.takeUntil([0n, 1n]);
  const lost = open([urlOf("b")]);
  await lost.takeUntil([], 500);
  const rows = await runSql(
    urlOf("b"),
    "SELECT stripe_index, used_count FROM snowlane_sequence_place, snowlane_sequence_counter",
  );
  const stripe = Number(rows[0]!["stripe_index"]) + 1;
  await Promise.all([first.sequences.close(1_000), lost.sequences.close(1_000)]);
  await runSql(server.url, "DROP DATABASE b WITH (FORCE)");

  await putDump(urlOf("successor"), await dumpDatabase(urlOf("a")));
  const successor = await openSequenceStore(urlOf("successor"), { namespace: "default", callTimeoutMs: 20_000 });
  onTestFinished(() => successor.close());
  const { database } = await successor.look([]);
  const lostId = database!.member.members.split(" ")[stripe]!;
  expect(await adoptDatabase(successor, lostId)).toEqual({ kind: "in-use" });
  const { revision } = database!;
  await successor.stop({ reason: "a test", revision, emptiesStock: false, by: "operator" });
  await expect(adoptDatabase(successor, "f".repeat(32))).rejects.toThrow("does not list a database");
  expect(await adoptDatabase(successor, lostId)).toEqual({ kind: "adopted", stripe: stripe - 1 });
  // Before the runbook nothing is taken.
  await expect(open([urlOf("successor")]).takeUntil([], 1)).rejects.toMatchObject({ reason: "STORE_WENT_BACK" });
  const operator = await open([urlOf("successor")]).catalog();
  expect(await operator.raise({ kind: "all", count: 10n * BigInt(String(rows[0]!["used_count"])) })).toBe(1);
  expect(await operator.open()).toMatchObject({ kind: "opened" });
  await runSql(urlOf("successor"), "UPDATE snowlane_sequence_place SET open_ms = 0");

  const later = open([urlOf("a"), urlOf("successor")]);
  for (const { seen } of [first, lost]) for (const value of seen) later.seen.add(value);
  await later.takeUntil([0n, 1n]);
  // Definitions can be made and changed again.
  await (await later.catalog()).create({ name: "late" });
});
