/** PostgreSQL as managed and hardened servers have it: functions are kept from their users, one by one. */
import { Client } from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import type { RecordStore, StoreMoment } from "../../src/store/record-store.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import type { TestServer } from "../support/servers/test-server.ts";

let server: TestServer;
let admin: Client;
beforeAll(async () => {
  server = await startPostgres(["-c", "fsync=on"]);
  admin = new Client({ connectionString: server.url });
  await admin.connect();
  await admin.query("CREATE ROLE app LOGIN; GRANT CREATE ON SCHEMA public TO app");
});
afterAll(async () => {
  await admin.end();
  await server.stop();
});

async function open(): Promise<RecordStore> {
  const url = server.url.replace("postgres@", "app@");
  const store = await openStore(url, { namespace: "default", callTimeoutMs: 30_000 });
  onTestFinished(() => store.close());
  return store;
}

/** The names of the facts that a moment tells. */
function partsOf({ incarnation: { identity, startedMs } }: StoreMoment): readonly string[] {
  const parts = identity.split(" ").map((part) => part.split("=")[0]!);
  return [...parts, ...(startedMs === undefined ? [] : ["start"])].toSorted();
}

/** Keeps something from all users but the superuser until the test has ended. */
async function keep(right: string): Promise<void> {
  await admin.query(`REVOKE ${right} FROM PUBLIC`);
  onTestFinished(async () => void (await admin.query(`GRANT ${right} TO PUBLIC`)));
}

test("a user with all rights learns every part, and is warned of nothing", async () => {
  const store = await open();
  expect(partsOf(await store.moment())).toEqual(["database", "start", "system", "table", "timeline"]);
  expect(await store.advise!({ windowMs: 30_000 })).toEqual([]);
});

const kept = [
  ["EXECUTE ON FUNCTION pg_control_system()", "system", /it is unknown which has the older timeline/],
  ["EXECUTE ON FUNCTION pg_current_wal_lsn()", "timeline", /shows by the server's start alone/],
  ["EXECUTE ON FUNCTION pg_walfile_name(pg_lsn)", "timeline", /shows by the server's start alone/],
  ["EXECUTE ON FUNCTION pg_postmaster_start_time()", "start", /older data folder is not noticed/],
  ["SELECT ON pg_database", "database", /takes its name is not noticed/],
] as const;

test.each(kept)("without %s the store works, and doctor says what goes unseen", async (right, part, warning) => {
  await keep(right);
  const store = await open();
  const answer = await store.compareAndSet("layout", (await store.read("layout")).entry, `without ${part}`);
  expect(answer.kind).toBe("applied");
  const all = ["database", "start", "system", "table", "timeline"];
  expect(partsOf(await store.moment())).toEqual(all.filter((name) => name !== part));
  expect(await store.advise!({ windowMs: 30_000 })).toMatchObject([{ detail: expect.stringMatching(warning) }]);
});

test("without all of them the store works by the table's object ID alone", async () => {
  for (const [right] of kept) await keep(right);
  const store = await open();
  expect(partsOf(await store.moment())).toEqual(["table"]);
  expect(await store.advise!({ windowMs: 30_000 })).toHaveLength(4);
});

test("a right that is taken away from a store that is open costs one call", async () => {
  const store = await open();
  expect(partsOf(await store.moment())).toContain("system");
  await keep("EXECUTE ON FUNCTION pg_control_system()");
  await expect(store.moment()).rejects.toThrow("permission denied");
  expect(partsOf(await store.moment())).not.toContain("system");
});

test("a write that was carried out before its moment was refused is left open, not taken for a refused one", async () => {
  const store = await open();
  const { entry } = await store.read("layout");
  await keep("EXECUTE ON FUNCTION pg_control_system()");
  await expect(store.compareAndSet("layout", entry, "carried out")).rejects.toThrow("permission denied");
  expect((await store.read("layout")).entry?.text).toBe("carried out");
});

test("a database with hardly any connections left is named", async () => {
  const small = await startPostgres(["-c", "fsync=on", "-c", "max_connections=12"]);
  onTestFinished(() => small.stop());
  const store = await openStore(small.url, { namespace: "default", callTimeoutMs: 30_000 });
  onTestFinished(() => store.close());
  const detail = expect.stringMatching(/^[1-9] of 9 connections are in use/);
  expect(await store.advise!({ windowMs: 30_000 })).toMatchObject([{ detail }]);
});
