/**
 * A process that acquires many worker IDs at once, each as a server of its own would: on a connection of its own.
 * Prints one line of JSON when all have one, draws some IDs with each, and gives them back when its standard input
 * ends.
 *
 * Arguments: store URL, number of holders.
 */
import { randomUUID } from "node:crypto";
import { text } from "node:stream/consumers";
import { systemClock, systemTimers, systemUptimeMs } from "../../src/clock/clock.ts";
import { SnowflakeGenerator } from "../../src/snowflake/generator.ts";
import { presetLayout } from "../../src/snowflake/presets.ts";
import { kernelRandom128 } from "../../src/kernel-random.ts";
import { openStore } from "../../src/store/open-store.ts";
import type { RecordStore } from "../../src/store/record-store.ts";
import { createHolder } from "../../src/lease/records/worker-record.ts";
import { resolveWorkerSettings } from "../../src/lease/worker-settings.ts";
import { WorkerSource } from "../../src/worker/worker-source.ts";

const [url = "", count = "1"] = process.argv.slice(2);
const layout = presetLayout("twitter");
const idsEach = 1_000;
let writes = 0;

/** The store itself, with each write counted. */
function counting(store: RecordStore): RecordStore {
  return new Proxy(store, {
    get(target, name) {
      if (name === "compareAndSet") writes += 1;
      const value = Reflect.get(target, name, target) as unknown;
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

async function acquire(): Promise<{ readonly source: WorkerSource; readonly close: () => Promise<void> }> {
  const store = counting(await openStore(url, { namespace: "default", callTimeoutMs: 10_000 }));
  const holder = createHolder({
    instance: randomUUID(),
    host: "test",
    processId: process.pid,
    bootId: "",
    sinceMs: systemClock.nowMs(),
    version: "test",
  });
  const settings = resolveWorkerSettings({ namespace: "default", holder }, layout, store);
  const source = new WorkerSource({
    store,
    settings,
    generator: new SnowflakeGenerator({ layout, random: Math.random, leadMaxMs: settings.leadMaxMs }),
    waitMaxMs: 1_000,
    ports: {
      clock: systemClock,
      timers: systemTimers,
      uptimeMs: systemUptimeMs,
      random128: kernelRandom128,
      random: Math.random,
      report: () => {},
    },
  });
  await source.start();
  const close = async (): Promise<void> => {
    await source.close(5_000);
    await store.close();
  };
  return { source, close };
}

const holders = await Promise.all(Array.from({ length: Number(count) }, acquire));
const writesToAcquire = writes;
const drawn = await Promise.all(
  holders.map(async ({ source }) => {
    const { workerId, datacenterId } = source.status().grant!;
    const ids: string[] = [];
    while (ids.length < idsEach) {
      const { runs } = await source.reserve({ count: idsEach - ids.length, priority: "bulk" });
      for (const { firstId, count, stride } of runs) {
        for (let index = 0; index < count; index += 1) ids.push(`${firstId + BigInt(index) * stride}`);
      }
    }
    return { workerIndex: datacenterId * 32 + workerId, ids };
  }),
);
process.stdout.write(`${JSON.stringify({ writes: writesToAcquire, holders: drawn })}\n`);
await text(process.stdin);
await Promise.all(holders.map(({ close }) => close()));
