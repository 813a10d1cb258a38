import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../src/clock/clock.ts";
import { duplicatesOf, IssuingWorker } from "../support/processes/issuing-worker.ts";
import type { TestServer } from "../support/servers/test-server.ts";

/** A store, and something that happens to it. */
export interface RecoveryStage {
  readonly url: string;
  /** Comes before the fault, and before what it takes back. */
  readonly prepare: () => Promise<void>;
  /** Does it, and resolves when the store answers again, or could. */
  readonly befall: (windowMs: number) => Promise<void>;
}

/** Something that happens to a store of one server. */
export interface RecoveryFault {
  readonly name: string;
  /** Does it, and resolves when the store answers again. */
  readonly befall: (server: TestServer, windowMs: number) => Promise<void>;
}

/** Longer than a window. */
const moreThanWindowMs = 5_000;

/** The faults of the table, in its order. */
export const recoveryFaults: readonly RecoveryFault[] = [
  {
    name: "killed and started at once",
    befall: async (server) => {
      await server.kill();
      await server.restart();
    },
  },
  {
    name: "frozen for a window and 5 s",
    befall: async (server, windowMs) => {
      server.pause();
      await sleep(windowMs + moreThanWindowMs);
      server.resume();
    },
  },
  {
    name: "killed, and started a window and 5 s later",
    befall: async (server, windowMs) => {
      await server.kill();
      await sleep(windowMs + moreThanWindowMs);
      await server.restart();
    },
  },
  { name: "an older copy put back", befall: (server) => server.restore() },
];

/** What a fault came to. Lengths of time are milliseconds, from when the store answered again. */
export interface Recovery {
  /** Until a server that ran before gave out IDs again; 0 where it never stopped. */
  readonly holderMs: number;
  /** Until a server that was started then gave out its first ID. */
  readonly newMs: number;
  readonly duplicateCount: number;
}

/** Longest time that a recovery is waited for. */
const recoveryMaxMs = 600_000;

/** Runs two servers, lets a fault happen, and waits until both and a new one give out IDs. */
export async function runRecovery(stage: RecoveryStage, windowMs: number | undefined): Promise<Recovery> {
  const options = { storeUrl: stage.url, windowMs, windowMaxMs: windowMs };
  const holders = await Promise.all([IssuingWorker.start(options), IssuingWorker.start(options)]);
  const workers = [...holders];
  try {
    await stage.prepare();
    for (const holder of holders) await untilRenewed(holder);
    const length = Math.max(...holders.map(({ source }) => source.status().grant?.windowLeftMs ?? 0));
    await stage.befall(length);
    const backMs = systemClock.monotonicMs();
    const [newMs, ...holderMs] = await Promise.all([
      startNew(options, workers, backMs),
      ...holders.map((holder) => untilIssuing(holder, backMs)),
    ]);
    await Promise.all(workers.map((worker) => worker.stop()));
    const duplicateCount = duplicatesOf(...workers.map(({ ids }) => ids)).length;
    return { holderMs: Math.max(...holderMs), newMs, duplicateCount };
  } finally {
    await Promise.all(workers.map((worker) => worker.stop(0).catch(() => {})));
  }
}

async function startNew(
  options: Parameters<typeof IssuingWorker.start>[0],
  workers: IssuingWorker[],
  backMs: number,
): Promise<number> {
  workers.push(await IssuingWorker.start(options));
  return systemClock.monotonicMs() - backMs;
}

/** Twice: what is put back later is older than what its holder knows. */
async function untilRenewed({ source }: IssuingWorker): Promise<void> {
  const { renewed } = source.status().counters;
  while (source.status().counters.renewed < renewed + 2) await sleep(100);
}

/**
 * Waits until a holder has given out IDs for longer than it takes to notice a loss.
 *
 * @returns When it began to, in milliseconds from `backMs`.
 * @throws Error after {@link recoveryMaxMs}.
 */
async function untilIssuing(holder: IssuingWorker, backMs: number): Promise<number> {
  const steadyMs = 15_000;
  let fromMs = backMs;
  let { length } = holder.ids;
  let isSteady = false;
  while (!isSteady) {
    await sleep(250);
    const nowMs = systemClock.monotonicMs();
    if (nowMs - backMs > recoveryMaxMs) throw new Error("it has not given out IDs again");
    if (holder.ids.length === length) fromMs = nowMs;
    ({ length } = holder.ids);
    isSteady = nowMs - fromMs > steadyMs;
  }
  return fromMs - backMs;
}
