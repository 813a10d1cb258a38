import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { fetchOnce } from "../support/fetch/user-cache.ts";
import { askPort } from "../support/servers/ask-port.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { startRedis } from "../support/servers/redis-server.ts";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

test("a server that is paused keeps its connections and answers nothing until it is resumed", async () => {
  const server = await startRedis();
  try {
    server.pause();
    await expect(askPort(server.port, "PING\r\nQUIT\r\n", 200)).rejects.toThrow("no answer");
    server.resume();
    expect(await askPort(server.port, "PING\r\nQUIT\r\n")).toContain("+PONG");
  } finally {
    await server.stop();
  }
});

test("a server that was killed starts again on the same data, or on the data that was backed up", async () => {
  const server = await startRedis({ persistence: "every-write" });
  try {
    await askPort(server.port, "SET key old\r\nQUIT\r\n");
    await server.backUp();
    await askPort(server.port, "SET key new\r\nQUIT\r\n");
    await server.kill();
    expect(server.process.isRunning).toBe(false);
    await server.restart();
    expect(await askPort(server.port, "GET key\r\nQUIT\r\n")).toContain("new");
    await server.restore();
    expect(await askPort(server.port, "GET key\r\nQUIT\r\n")).toContain("old");
  } finally {
    await server.stop();
  }
});

test("killing a server that has child processes leaves none of them", async () => {
  const server = await startPostgres();
  const { pid } = server.process;
  await server.stop();
  await expect(askPort(server.port, "")).rejects.toThrow("ECONNREFUSED");
  expect(() => process.kill(pid, 0)).toThrow("ESRCH");
});

test("what two ask for at once is fetched once, and what was left half fetched is fetched again", async () => {
  const cache = mkdtempSync(join(tmpdir(), "snowlane-cache-"));
  const before = process.env["XDG_CACHE_HOME"];
  process.env["XDG_CACHE_HOME"] = cache;
  try {
    let fetched = 0;
    const fill = async (folder: string): Promise<void> => {
      fetched += 1;
      await sleep(20);
      writeFileSync(join(folder, "file"), "");
    };
    await expect(
      fetchOnce("thing", async () => {
        throw new Error("cut off");
      }),
    ).rejects.toThrow("cut off");
    const [one, other] = await Promise.all([fetchOnce("thing", fill), fetchOnce("thing", fill)]);
    expect(one).toBe(other);
    expect(fetched).toBe(1);
  } finally {
    if (before === undefined) delete process.env["XDG_CACHE_HOME"];
    else process.env["XDG_CACHE_HOME"] = before;
    rmSync(cache, { recursive: true, force: true });
  }
});
