/**
 * Loaded into a server by `--import`, with `--expose-gc`: on SIGUSR2 it collects all garbage and tells on standard
 * error what is left, and how many timers keep the process alive. See live-memory.ts. JavaScript, because stripping
 * types weighs 25 MiB.
 */
import { setTimeout as sleep } from "node:timers/promises";

/** Buffers are freed some turns after the objects that held them. */
const rounds = 4;
const roundMs = 50;

async function tell() {
  let liveBytes = Infinity;
  for (let round = 0; round < rounds; round++) {
    globalThis.gc();
    await sleep(roundMs);
    const { heapUsed, external } = process.memoryUsage();
    liveBytes = Math.min(liveBytes, heapUsed + external);
  }
  const timers = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  process.stderr.write(`${JSON.stringify({ level: "info", message: "Live memory", liveBytes, timers })}\n`);
}

process.on("SIGUSR2", () => void tell());
