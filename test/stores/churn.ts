import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../src/clock/clock.ts";
import { GrpcIdClient } from "../support/processes/grpc-id-client.ts";
import type { IssuedRuns } from "../support/worlds/issued-runs.ts";
import { IdLoad } from "../support/processes/id-load.ts";
import type { LifeReports } from "../fault/fault-server.ts";
import { type SnowlaneOptions, type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";

/** What a churn does beside killing. */
export interface ChurnOptions {
  /** Whether it may end; asked after each kill. */
  readonly isOver: (soFar: Pick<ChurnResult, "idCount" | "killCount">) => boolean;
  /** Of each server, beside the store. */
  readonly serverArgs?: readonly string[];
  /** Callers that take streams of 50,000 IDs. */
  readonly streamCount?: number;
  /** Called before each start, with the name of the server that is started or replaced. */
  readonly beginLife?: (instance: string) => Pick<LifeReports, "args" | "onLine">;
  readonly onProgress?: (line: string) => void;
}

/** The outcome of a churn. */
export interface ChurnResult {
  /** The IDs that the callers were given. */
  readonly received: IssuedRuns;
  readonly idCount: number;
  readonly duplicateCount: number;
  /** Servers that were killed and replaced. */
  readonly killCount: number;
  readonly requestCount: number;
  /** Requests that neither server answered within two seconds. */
  readonly failedCount: number;
  /** Longest time in which not one request was answered. */
  readonly longestGapMs: number;
}

/** A running server and a client of it. */
interface Target {
  readonly process: SnowlaneProcess;
  readonly client: GrpcIdClient;
}

const callerCount = 8;
const callTimeoutMs = 1_000;
const requestTimeoutMs = 2_000;

/**
 * Starts two servers on a store, kills (kill -9) and replaces one after the other until it is over while callers ask
 * both for IDs, and says what came of it.
 */
export async function churn(
  storeUrl: string,
  { isOver, serverArgs = [], streamCount = 0, beginLife, onProgress }: ChurnOptions,
): Promise<ChurnResult> {
  const start = (turn: number): Promise<Target> => {
    const { args = [], onLine } = beginLife?.(`server ${turn}`) ?? {};
    return startTarget({ args: ["--store", storeUrl, ...serverArgs, ...args], ...(onLine && { onLine }) });
  };
  const targets = await Promise.all([start(0), start(1)]);
  const load = new IdLoad({
    targets: () => targets.map(({ client }) => client),
    callerCount,
    streamCount,
    stream: { idCount: 50_000, chunkSize: 5_000 },
    pauseMs: 0,
    callTimeoutMs,
    requestTimeoutMs,
  });
  let killCount = 0;
  try {
    for (let turn = 0; !isOver({ idCount: load.received.idCount, killCount }); turn = 1 - turn) {
      await sleep(300);
      await endTarget(targets[turn]!);
      killCount += 1;
      targets[turn] = await start(turn);
      onProgress?.(`${killCount} servers killed and replaced, ${load.received.idCount} IDs issued`);
    }
  } finally {
    await load.stop();
    await Promise.all(targets.map(endTarget));
  }
  const { received, requestCount, failedCount, longestGapMs } = load;
  const duplicateCount = received.countRepeated();
  return {
    received,
    idCount: received.idCount,
    duplicateCount,
    killCount,
    requestCount,
    failedCount,
    longestGapMs,
  };
}

/** Whether a time is over that begins now. */
export function after(durationMs: number): ChurnOptions["isOver"] {
  const endMs = systemClock.monotonicMs() + durationMs;
  return () => systemClock.monotonicMs() >= endMs;
}

async function startTarget(options: SnowlaneOptions): Promise<Target> {
  const process = await startSnowlane(options);
  return { process, client: new GrpcIdClient(process.address) };
}

async function endTarget({ process, client }: Target): Promise<void> {
  await process.stop("SIGKILL");
  client.close();
}
