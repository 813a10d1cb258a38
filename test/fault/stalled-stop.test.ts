import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { findLockOwner } from "../../src/store/sqlite/lock-owner.ts";
import { revisionPath } from "../../src/store/sqlite/sqlite-paths.ts";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";
import { createFaultyDisk } from "./faulty-disk.ts";

/** A server in the midst of a write to a disk that does not answer, and will not. */
async function serverInStalledDisk(): Promise<SnowlaneProcess> {
  const disk = await createFaultyDisk(temporaryFolder(), "preloaded");
  const path = join(disk.folder, "ids.db");
  const server = await startSnowlane({ args: ["--store", `sqlite:${path}`], environment: disk.environment });
  onTestFinished(() => void server.child.kill("SIGKILL"));
  disk.stall();
  await expect
    .poll(() => findLockOwner([revisionPath(path)]), { timeout: 120_000, interval: 20 })
    .toMatchObject({ processId: server.child.pid, access: "write" });
  return server;
}

test("a server whose disk does not answer ends all the same when it is told to (it stayed until the disk did)", async () => {
  const server = await serverInStalledDisk();
  expect(await server.stop("SIGTERM")).toBe("SIGKILL");
  expect(server.log.map(({ message }) => message)).toContainEqual(expect.stringContaining("ends without waiting"));
});

test("a second SIGTERM ends it at once", async () => {
  const server = await serverInStalledDisk();
  server.child.kill("SIGTERM");
  while (!server.log.some(({ message }) => message === "Stops")) await sleep(10);
  await sleep(1_000);
  expect(await server.stop("SIGTERM")).toBe("SIGTERM");
});
