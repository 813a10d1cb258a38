import mysql from "mysql2/promise";
import { Client } from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import type { RecordStore } from "../../src/store/record-store.ts";
import { askPort } from "../support/servers/ask-port.ts";
import { startEtcd } from "../support/servers/etcd-server.ts";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { startRedis } from "../support/servers/redis-server.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import { startZooKeeper } from "../support/servers/zookeeper-server.ts";
import { docBlock } from "../house/stores-doc.ts";

/** Starts a server, does what docs/stores.md tells its operator, and returns the URL of the account made so. */
const setUps: Readonly<Record<string, () => Promise<string>>> = {
  postgres: async () => {
    const server = await started(startPostgres());
    await postgres(server.url, docBlock("privileges: postgres"));
    return `postgres://snowlane:change-me@127.0.0.1:${server.port}/postgres`;
  },
  mysql: async () => {
    const server = await started(startMariadb());
    const root = await mysql.createConnection({ host: "127.0.0.1", port: server.port, user: "root" });
    for (const statement of statements(docBlock("privileges: mysql"))) await root.query(statement);
    root.destroy();
    return `mysql://snowlane:change-me@127.0.0.1:${server.port}/snowlane`;
  },
  redis: async () => {
    const server = await started(startRedis());
    const answer = await askPort(server.port, `${docBlock("privileges: redis").trim()}\r\nQUIT\r\n`);
    expect(answer).toContain("+OK");
    return `redis://snowlane:change-me@127.0.0.1:${server.port}?replicas=0`;
  },
  etcd: async () => {
    const server = await started(startEtcd());
    for (const line of docBlock("privileges: etcd").trim().split("\n")) await runEtcdctl(server.port, line);
    return `etcd://snowlane:change-me@127.0.0.1:${server.port}`;
  },
  // A user owns the znodes that it creates, so there is nothing to prepare.
  zookeeper: async () => {
    const server = await started(startZooKeeper());
    return `zookeeper://snowlane:change-me@127.0.0.1:${server.port}`;
  },
};

async function started(starting: Promise<TestServer>): Promise<TestServer> {
  const server = await starting;
  onTestFinished(() => server.stop());
  return server;
}

async function open(url: string): Promise<RecordStore> {
  const store = await openStore(url, { namespace: "default", callTimeoutMs: 30_000 });
  onTestFinished(() => store.close());
  return store;
}

describe.each(Object.keys(setUps))("an account on %s with what docs/stores.md gives it", (kind) => {
  test("can do all that a store does, and a caller with a wrong password or none gets an error that says so", async () => {
    const url = await setUps[kind]!();
    const store = await open(url);
    const created = await store.compareAndSet("worker-1", undefined, "one");
    expect(created.kind).toBe("applied");
    expect((await store.compareAndSet("worker-1", undefined, "two")).kind).toBe("conflict");
    const { entry } = await store.read("worker-1");
    expect((await store.compareAndSet("worker-1", entry, "two")).kind).toBe("applied");
    expect((await store.list()).entries.map(({ text }) => text)).toEqual(["two"]);
    await store.moment();
    const refused = expect.objectContaining({ reason: "INVALID_CONFIG" });
    // The test's PostgreSQL takes any password, but no role that is not there.
    const stranger = kind === "postgres" ? "stranger:guessed" : "snowlane:guessed";
    const wrong = await open(url.replace("snowlane:change-me", stranger));
    await expect(wrong.compareAndSet("worker-2", undefined, "one")).rejects.toEqual(refused);
  });
});

test("an account on postgres can neither drop the table nor read others", async () => {
  const url = await setUps["postgres"]!();
  await postgres(url.replace("snowlane:change-me", "postgres"), "CREATE TABLE other (x int)");
  await expect(postgres(url, "DROP TABLE snowlane_record")).rejects.toThrow(/owner/);
  await expect(postgres(url, "DELETE FROM snowlane_record")).rejects.toThrow(/permission denied/);
  await expect(postgres(url, "SELECT * FROM other")).rejects.toThrow(/permission denied/);
});

test("an account on redis can neither flush nor touch other keys", async () => {
  const { port } = new URL((await setUps["redis"]!()).replace("redis:", "http:"));
  const ask = (command: string): Promise<string> =>
    askPort(Number(port), `AUTH snowlane change-me\r\n${command}\r\nQUIT\r\n`);
  expect(await ask("FLUSHALL")).toContain("NOPERM");
  expect(await ask("DEL snowlane:{default}")).toContain("NOPERM");
  expect(await ask("HGET other field")).toContain("NOPERM");
});

test("a record on zookeeper belongs to the user who made it: another one can neither read nor change it", async () => {
  const url = await setUps["zookeeper"]!();
  const written = await (await open(url)).compareAndSet("worker-1", undefined, "one");
  if (written.kind !== "applied") throw new Error("the first write was not applied");
  const other = await open(url.replace("snowlane:change-me@", ""));
  // ZooKeeper itself says -102.
  const refused = {
    reason: "INVALID_CONFIG",
    message: expect.stringContaining("this user may not do that: the znode's ACL does not allow it"),
  };
  await expect(other.read("worker-1")).rejects.toMatchObject(refused);
  await expect(other.compareAndSet("worker-1", written.entry, "two")).rejects.toMatchObject(refused);
});

function statements(sql: string): readonly string[] {
  return sql
    .split(";")
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "");
}

async function postgres(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** Does what a line of etcdctl does, by the JSON gateway of the same server. */
async function runEtcdctl(port: number, line: string): Promise<void> {
  const [, group, command, ...args] = line.replace("--prefix=true ", "").split(" ");
  const calls: Readonly<Record<string, () => readonly [string, object]>> = {
    "role add": () => ["role/add", { name: args[0] }],
    "role grant-permission": () => [
      "role/grant",
      {
        name: args[0],
        perm: { permType: args[1]!.toUpperCase(), key: base64(args[2]!), range_end: prefixEnd(args[2]!) },
      },
    ],
    "user add": () => ["user/add", { name: args[0]!.split(":")[0], password: args[0]!.split(":")[1] }],
    "user grant-role": () => ["user/grant", { user: args[0], role: args[1] }],
    "auth enable": () => ["enable", {}],
  };
  const call = calls[`${group} ${command}`];
  if (call === undefined) throw new Error(`no call for ${line}`);
  const [path, body] = call();
  const response = await fetch(`http://127.0.0.1:${port}/v3/auth/${path}`, {
    method: "POST",
    body: JSON.stringify(body),
  });
  expect(response.status, await response.text()).toBe(200);
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

/** The first key after all that begin with `prefix`. */
function prefixEnd(prefix: string): string {
  return base64(prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1));
}
