import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../src/clock/clock.ts";
import { GrpcIdClient } from "../support/processes/grpc-id-client.ts";
import { IdLoad } from "../support/processes/id-load.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";

/** The outcome of a churn. */
export interface ChurnResult {
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
 * Starts two servers on a store, kills (kill -9) and replaces one after the other for `durationMs` while callers ask
 * both for IDs, and says what came of it.
 */
export async function churn(
  storeUrl: string,
  durationMs: number,
  onProgress: (line: string) => void,
): Promise<ChurnResult> {
  const targets = await Promise.all([startTarget(storeUrl), startTarget(storeUrl)]);
  const load = new IdLoad({
    targets: () => targets.map(({ client }) => client),
    callerCount,
    streamCount: 0,
    pauseMs: 0,
    callTimeoutMs,
    requestTimeoutMs,
  });
  let killCount = 0;
  try {
    const endMs = systemClock.monotonicMs() + durationMs;
    for (let turn = 0; systemClock.monotonicMs() < endMs; turn = 1 - turn) {
      await sleep(300);
      await endTarget(targets[turn]!);
      killCount += 1;
      targets[turn] = await startTarget(storeUrl);
      onProgress(`${killCount} servers killed and replaced, ${load.received.idCount} IDs issued`);
    }
  } finally {
    await load.stop();
    await Promise.all(targets.map(endTarget));
  }
  const { received, requestCount, failedCount, longestGapMs } = load;
  const duplicateCount = received.countRepeated();
  return { idCount: received.idCount, duplicateCount, killCount, requestCount, failedCount, longestGapMs };
}

async function startTarget(storeUrl: string): Promise<Target> {
  const process = await startSnowlane({ args: ["--store", storeUrl] });
  return { process, client: new GrpcIdClient(process.address) };
}

async function endTarget({ process, client }: Target): Promise<void> {
  await process.stop("SIGKILL");
  client.close();
}
