import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../src/clock/clock.ts";
import { type LogLine, startSnowlane } from "../support/processes/snowlane-process.ts";
import { runSnowlane } from "../text/run-snowlane.ts";
import type { Stage } from "./fault-stages.ts";

/** A finding of `snowlane doctor` that is not well. */
interface BadFinding {
  readonly check: string;
  readonly level: string;
  readonly detail: string;
  readonly hint: string;
}

/** What an operator reads of a fault that lasts for longer than the window. */
export interface FaultLines {
  /** What the server logs until it has given up its worker ID. */
  readonly during: readonly LogLine[];
  /** What doctor says then, beside what it said before. */
  readonly doctor: readonly BadFinding[];
  /** What the server logs from the fault's end until it has a worker ID again. */
  readonly after: readonly LogLine[];
}

/** Short times, so that a fault is soon longer than the window. */
const times = ["--window", "6s", "--window-max", "6s", "--renewal-period", "1s", "--store-timeout", "1s"];
/** Longest time for a server to lose its worker ID, and to find another. */
const turnMaxMs = 120_000;

/** Injects a fault into a store under one server, and reads what an operator can read. */
export async function readFaultLines({ url, environment = {}, befall, end }: Stage): Promise<FaultLines> {
  const args = ["--store", url, ...times];
  const server = await startSnowlane({ args, environment });
  try {
    await untilLogged(server.log, 0, "acquired");
    const before = await askDoctor(args, environment);
    const fromFault = server.log.length;
    await befall();
    let isOver = false;
    try {
      await untilLogged(server.log, fromFault, "grant-ended");
      const known = new Set(before.map(({ detail }) => detail));
      const doctor = (await askDoctor(args, environment)).filter(({ detail }) => !known.has(detail));
      const fromEnd = server.log.length;
      isOver = true;
      await end();
      await untilLogged(server.log, fromEnd, "acquired");
      return { during: server.log.slice(fromFault, fromEnd), doctor, after: server.log.slice(fromEnd) };
    } finally {
      if (!isOver) await end();
    }
  } finally {
    await server.stop("SIGKILL");
  }
}

async function askDoctor(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<readonly BadFinding[]> {
  const { stdout } = await runSnowlane(["doctor", "--json", "--listen", "127.0.0.1:0", ...args], "", environment);
  const findings = stdout
    .trim()
    .split("\n")
    .map((line): BadFinding => JSON.parse(line));
  return findings.filter(({ level }) => level !== "ok");
}

/** @param from - Of the log: earlier lines do not count. */
async function untilLogged(log: readonly LogLine[], from: number, event: string): Promise<void> {
  const endMs = systemClock.monotonicMs() + turnMaxMs;
  // The first worker ID is reported by the line that the server serves.
  const isIt = (line: LogLine): boolean =>
    line["event"] === event || (event === "acquired" && line["message"] === "Serves IDs");
  while (!log.slice(from).some(isIt)) {
    if (systemClock.monotonicMs() > endMs) throw new Error(`no ${event} in ${JSON.stringify(log.slice(from))}`);
    await sleep(50);
  }
}
