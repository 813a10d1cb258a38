/** How much memory a file of principals takes in the server. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { liveMemoryFlags, liveMb } from "../support/processes/live-memory.ts";
import { digestOf, tokenOf } from "../support/processes/principals-file.ts";
import { startSnowlane } from "../support/processes/snowlane-process.ts";
import type { Benchmark, Finding } from "./benchmark.ts";

const most = 1_000;
const limitMb = 2;
const settleMs = 2_000;

/** The memory in use of a fresh server with that many principals, each with a token, a certificate and all quotas. */
async function liveWith(count: number, folder: string): Promise<number> {
  const principals = Array.from({ length: count }, (_, index) => ({
    name: `principal-${index}`,
    tokens: [digestOf(tokenOf(String(index)))],
    certificates: [`uri:spiffe://prod/principal-${index}`],
    permissions: ["ids", "sequences"],
    idsPerSecond: 100_000,
    callsPerSecond: 5_000,
    streamsMax: 8,
  }));
  const path = join(folder, `principals-${count}.json`);
  writeFileSync(path, JSON.stringify({ principals }));
  const server = await startSnowlane({
    program: [process.execPath, ...liveMemoryFlags, "dist/main.js"],
    args: ["--store", `sqlite:${join(folder, `principals-${count}.db`)}`, "--principals", path],
  });
  try {
    await sleep(settleMs);
    return await liveMb(server);
  } finally {
    await server.stop("SIGTERM");
  }
}

/** Compares one principal with a thousand. The bundle must have been made. */
export async function measurePrincipals(folder: string, log: Parameters<Benchmark["run"]>[0]): Promise<Finding> {
  log(`${most} principals`);
  const [one, many] = [await liveWith(1, folder), await liveWith(most, folder)];
  const more = many - one;
  return {
    title: "Memory in use of a server with principals, after all garbage was collected",
    columns: ["principals", "MB", "more than with one", "at most", "met"],
    rows: [
      ["1", one.toFixed(1), "", "", ""],
      [
        most.toLocaleString("en-US"),
        many.toFixed(1),
        more.toFixed(1),
        limitMb.toFixed(1),
        more <= limitMb ? "yes" : "no",
      ],
    ],
  };
}
