import { mkdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../../src/clock/clock.ts";
import { askRedis } from "./redis-replicas.ts";
import type { TestServer } from "./test-server.ts";

const saveMaxMs = 60_000;

/** Makes the saves of a Redis fail: it then answers writes with MISCONF. Returns when one has failed. */
export async function endSaving(server: TestServer): Promise<void> {
  // A folder that has the name of the dump cannot be replaced by it.
  mkdirSync(dumpOf(server));
  await askRedis(server.port, 'CONFIG SET save "3600 1000000"');
  await save(server, "err");
}

/** Ends what {@link endSaving} began. */
export async function letSave(server: TestServer): Promise<void> {
  rmdirSync(dumpOf(server));
  await save(server, "ok");
}

function dumpOf({ dataFolder }: TestServer): string {
  return join(dataFolder, "dump.rdb");
}

async function save({ port }: TestServer, status: "ok" | "err"): Promise<void> {
  await askRedis(port, "BGSAVE");
  const endMs = systemClock.monotonicMs() + saveMaxMs;
  while (!(await askRedis(port, "INFO persistence")).includes(`rdb_last_bgsave_status:${status}`)) {
    if (systemClock.monotonicMs() > endMs) throw new Error(`no save came to ${status}`);
    await sleep(50);
  }
}
