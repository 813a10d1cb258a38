/** What a scrape costs a server of a namespace in which every worker ID has a record, and what it leaves behind. */
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../src/clock/clock.ts";
import { workerKey } from "../../src/lease/records/worker-record.ts";
import { listWorkers } from "../../src/lease/worker-list.ts";
import { openStore } from "../../src/store/open-store.ts";
import { liveMemoryFlags, liveMb } from "../support/processes/live-memory.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";
import type { Benchmark, Finding } from "./benchmark.ts";
import { processorUs } from "./bench-server.ts";
import { median } from "./interleave.ts";

type Log = Parameters<Benchmark["run"]>[0];

const scrapes = 10_000;
const workerIds = 1_024;
const lists = 20;
const settleMs = 1_000;

/** A store in which every worker ID has a record, as that of a server which has ended. */
async function fillStore(url: string): Promise<void> {
  const server = await startSnowlane({ args: ["--store", url] });
  await server.stop("SIGTERM");
  const store = await openStore(url, { namespace: "default", callTimeoutMs: 10_000 });
  const { entries } = await store.list();
  const { key, text } = entries.find((entry) => entry.key.startsWith("worker-"))!;
  for (let index = 0; index < workerIds; index++) {
    if (workerKey(index) !== key) await store.compareAndSet(workerKey(index), undefined, text);
  }
  await store.close();
}

/** The longest turn of the event loop during some work, in milliseconds. */
async function longestTurn(work: () => Promise<void>): Promise<number> {
  let [longestMs, lastMs, isOver] = [0, performance.now(), false];
  const watch = (): void => {
    const nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
    if (!isOver) setImmediate(watch);
  };
  setImmediate(watch);
  await work();
  // The turn in which it ended counts, too.
  await new Promise((resolve) => void setImmediate(resolve));
  isOver = true;
  return longestMs;
}

/** How long the event loop is busy with reading all worker IDs, which a server does once a minute. */
async function measureLists(url: string): Promise<{ readonly busyMs: number; readonly turnMs: number }> {
  const store = await openStore(url, { namespace: "default", callTimeoutMs: 10_000 });
  const list = async (): Promise<void> => {
    const { workers } = await listWorkers(store, await store.list(), systemClock.nowMs());
    if (workers.length !== workerIds) throw new Error(`The store has ${workers.length} worker IDs`);
  };
  const [busyMs, turnsMs]: [number[], number[]] = [[], []];
  for (let done = 0; done < lists; done++) {
    const before = performance.eventLoopUtilization();
    await list();
    // The turn must have ended before it counts.
    await sleep(1);
    busyMs.push(performance.eventLoopUtilization(before).active);
    turnsMs.push(await longestTurn(list));
  }
  await store.close();
  return { busyMs: median(busyMs), turnMs: median(turnsMs) };
}

async function scrapeMany({ url }: SnowlaneProcess, count: number): Promise<void> {
  for (let done = 0; done < count; done++) {
    const response = await fetch(`${url}/metrics`);
    if (response.status !== 200) throw new Error(`GET /metrics was answered with ${response.status}`);
    await response.text();
  }
}

const met = (isMet: boolean): string => (isMet ? "yes" : "no");

/** Measures a scrape. The bundle must have been made. */
export async function measureScrapes(folder: string, log: Log): Promise<Finding> {
  log(`${scrapes} scrapes, ${workerIds} worker IDs`);
  const url = `sqlite:${join(mkdtempSync(join(folder, "scrapes-")), "snowlane.db")}`;
  await fillStore(url);
  const list = await measureLists(url);
  const program = [process.execPath, ...liveMemoryFlags, "dist/main.js"];
  const server = await startSnowlane({ program, args: ["--store", url] });
  try {
    await scrapeMany(server, scrapes / 2);
    await sleep(settleMs);
    const [beforeMb, beforeUs] = [await liveMb(server), processorUs(server.child.pid!)];
    await scrapeMany(server, scrapes);
    const eachUs = (processorUs(server.child.pid!) - beforeUs) / scrapes;
    await sleep(settleMs);
    const grownKb = ((await liveMb(server)) - beforeMb) * 1_000;
    const longestMs = list.turnMs + eachUs / 1_000;
    return {
      title: `GET /metrics with ${workerIds.toLocaleString("en-US")} worker IDs`,
      note: "A scrape that finds the list of worker IDs older than a minute has it read again, in later turns.",
      columns: ["measure", "found", "at most", "met"],
      rows: [
        ["processor time of a scrape", `${eachUs.toFixed(0)} µs`, "", ""],
        ["event loop busy with the list of worker IDs, once a minute", `${list.busyMs.toFixed(2)} ms`, "", ""],
        ["longest turn of that", `${list.turnMs.toFixed(2)} ms`, "", ""],
        ["that turn and the scrape together", `${longestMs.toFixed(2)} ms`, "5 ms", met(longestMs <= 5)],
        [
          `memory in use after ${scrapes.toLocaleString("en-US")} scrapes`,
          `${grownKb.toFixed(0)} kB more`,
          "500 kB",
          met(grownKb <= 500),
        ],
      ],
    };
  } finally {
    await server.stop("SIGTERM");
  }
}
