/**
 * Measures what attacks cost a caller that behaves: `node test/bench/attacks.ts [seconds]`, after `npm run build`. For
 * each attack it prints the 99th percentile of the caller's calls, beside that of an undisturbed time before, and what
 * the server has in memory. Attackers run on a thread of their own, so that the caller waits for the server alone; on
 * two processors the three still share what there is. Not a test: it asserts nothing.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { type Attack, quickAttacks, slowAttacks } from "../support/attacks.ts";
import { Neighbour } from "../support/neighbour.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/snowlane-process.ts";
import { residentMib } from "../support/resident-memory.ts";

const attacks: readonly Attack[] = [...quickAttacks, ...slowAttacks];
/** Attackers of a kind at once. Each begins again when the server has ended it. */
const attackersAtOnce = 8;
/** How long the server has to give memory back. */
const restMs = 10_000;

interface Order {
  readonly name: string;
  readonly port: number;
  readonly endsMs: number;
}

/** On the attackers' thread: attacks until the time is over, and tells how often. */
async function attack({ name, port, endsMs }: Order): Promise<void> {
  const { run } = attacks.find((one) => one.name === name)!;
  let count = 0;
  const again = async (): Promise<void> => {
    while (Date.now() < endsMs) {
      await run(port);
      count++;
    }
  };
  await Promise.race([
    Promise.all(Array.from({ length: attackersAtOnce }, again)),
    sleep(Math.max(0, endsMs - Date.now()) + 1_000),
  ]);
  parentPort!.postMessage(count);
}

async function attackFor(seconds: number, name: string, port: number): Promise<number> {
  const order: Order = { name, port, endsMs: Date.now() + 1_000 * seconds };
  const worker = new Worker(new URL(import.meta.url), { workerData: order });
  const count = await new Promise<number>((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
  });
  await worker.terminate();
  return count;
}

async function measure(server: SnowlaneProcess, seconds: number): Promise<void> {
  const port = Number(server.address.split(":")[1]);
  const neighbour = new Neighbour(server.url);
  await neighbour.served(20_000);
  const restedMib = residentMib(server.child.pid);
  console.log(`rested: ${restedMib.toFixed(0)} MiB\n`);
  console.log(`${"attack".padEnd(52)} ended  alone p99  p99 ms  ratio  failed   MiB`);
  for (const { name } of attacks) {
    neighbour.report();
    await sleep(1_000 * seconds);
    const alone = neighbour.report();
    const count = await attackFor(seconds, name, port);
    const { p99Ms, failures } = neighbour.report();
    const figures = [
      name.padEnd(52),
      String(count).padStart(5),
      alone.p99Ms.toFixed(2).padStart(10),
      p99Ms.toFixed(2).padStart(7),
      (p99Ms / alone.p99Ms).toFixed(1).padStart(6),
      String(failures.length).padStart(7),
      residentMib(server.child.pid).toFixed(0).padStart(5),
    ];
    console.log(figures.join(" "));
  }
  await neighbour.stop();
  await sleep(restMs);
  const endMib = residentMib(server.child.pid);
  console.log(`\n${restMs / 1_000} s later: ${endMib.toFixed(0)} MiB, ${((100 * endMib) / restedMib).toFixed(0)} %`);
}

async function main(): Promise<void> {
  const seconds = Number(process.argv[2] ?? 5);
  console.log(`Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}, ${seconds} s an attack`);
  const folder = mkdtempSync(join(tmpdir(), "snowlane-bench-"));
  const server = await startSnowlane({
    program: [process.execPath, "dist/main.js"],
    args: ["--http2", "engine", "--store", `sqlite:${folder}/snowlane.db`],
  });
  try {
    await measure(server, seconds);
  } finally {
    await server.stop("SIGTERM");
    rmSync(folder, { recursive: true, force: true });
  }
}

if (isMainThread) await main();
else await attack(workerData as Order);
