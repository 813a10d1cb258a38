import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock, systemTimers } from "../../src/clock/clock.ts";
import type { SequenceCatalog } from "../../src/sequence/sequence-catalog.ts";
import { Sequences } from "../../src/sequence/sequences.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";
import { runSql } from "../support/servers/run-sql.ts";
import type { TestServer } from "../support/servers/test-server.ts";

/** How a trial is run. */
export interface TrialOptions {
  readonly databaseUrl: string;
  /** The database's server, to be killed; undefined = the servers of Snowlane are in the file themselves. */
  readonly database?: TestServer | undefined;
  /** A folder for the worker records, which are not part of the trial. */
  readonly folder: string;
  readonly serverCount: number;
  /** Values of one take. */
  readonly step: number;
  /** Rounds; in each one a server is killed and replaced, in every other the database, too. */
  readonly roundCount: number;
  /** Values that callers get before a round begins. */
  readonly valuesOfRound: number;
}

/** The outcome of a trial. */
export interface TrialResult {
  readonly valueCount: number;
  /** Values that came twice. */
  readonly repeatedCount: number;
  /** Values that were taken from the database and that no caller got, when no server has one left in memory. */
  readonly wastedCount: number;
  readonly serverKillCount: number;
  readonly databaseKillCount: number;
  /** The most values that servers handed out to calls that were in the air when the server was killed. */
  readonly lostMax: number;
}

interface Run {
  readonly first: number;
  readonly count: number;
}

const callersOfServer = 1;
const startedAtOnce = 4;
/**
 * The share of a step that a call asks for. A step is not a multiple of it, so that a server that is killed has some in
 * memory: with a quarter, one run in many met four servers that had just handed out their last value.
 */
const callShare = 0.37;

/**
 * Has callers take values of one sequence from several servers, and kills (kill -9) servers and the database meanwhile.
 */
export async function runSequenceTrial(options: TrialOptions): Promise<TrialResult> {
  const { database, serverCount, step, roundCount, valuesOfRound } = options;
  const valuesOfCall = step * callShare;
  await createSequence(options);
  const servers: SnowlaneProcess[] = [];
  // A few at a time: each one loads its code.
  for (let at = 0; at < serverCount; at += startedAtOnce) {
    const indexes = Array.from({ length: Math.min(startedAtOnce, serverCount - at) }, (_, index) => at + index);
    servers.push(...(await Promise.all(indexes.map((index) => startServer(options, index)))));
  }
  const runs: Run[] = [];
  const over = new AbortController();
  let [valueCount, databaseKillCount] = [0, 0];
  /** The server that has answered last: where a database serves some servers far more often, it is a busy one. */
  let latest = 0;
  const call = async (index: number): Promise<void> => {
    while (!over.signal.aborted) {
      try {
        for (const run of await reserve(servers[index]!.url, valuesOfCall)) {
          runs.push(run);
          valueCount += run.count;
        }
        latest = index;
      } catch {
        // The server is being replaced.
        await sleep(20);
      }
    }
  };
  const countReaches = (wanted: number): Promise<void> => reach(wanted, () => valueCount);
  const callers = servers.flatMap((_, index) => Array.from({ length: callersOfServer }, () => call(index)));
  try {
    for (let round = 0; round < roundCount; round += 1) {
      await countReaches((round + 1) * valuesOfRound);
      const index = latest;
      await servers[index]!.stop("SIGKILL");
      if (round % 2 === 1 && database !== undefined) {
        await database.kill();
        databaseKillCount += 1;
        await database.restart();
      }
      servers[index] = await startServer(options, index);
    }
    await countReaches((roundCount + 1) * valuesOfRound);
    over.abort();
    await Promise.all(callers);
    // Nobody takes any more, so what the servers have in memory can be distinguished from what the crashes cost.
    await withCatalog(options, (catalog) => catalog.stop("the trial is over"));
    for (const left of await Promise.all(servers.map(({ url }) => drain(url, step / 100)))) {
      runs.push(...left);
      for (const { count } of left) valueCount += count;
    }
  } finally {
    over.abort();
    await Promise.all(callers);
    await Promise.all(servers.map((server) => server.stop("SIGTERM")));
  }
  const wastedCount = (await usedCount(options.databaseUrl)) - valueCount;
  const repeatedCount = countRepeated(runs);
  const lostMax = roundCount * callersOfServer * valuesOfCall;
  return { valueCount, repeatedCount, wastedCount, serverKillCount: roundCount, databaseKillCount, lostMax };
}

async function usedCount(url: string): Promise<number> {
  const query = "SELECT used_count FROM snowlane_sequence_counter WHERE name = 'orders'";
  if (!url.startsWith("sqlite:")) return Number((await runSql(url, query))[0]?.["used_count"]);
  const file = new DatabaseSync(`${url.slice("sqlite:".length)}.sequences`, { readOnly: true });
  try {
    return Number(file.prepare(query).get()?.["used_count"]);
  } finally {
    file.close();
  }
}

function createSequence({ step, ...options }: TrialOptions): Promise<unknown> {
  return withCatalog(options, (catalog) => catalog.create({ name: "orders", stepMin: step, stepMax: step }));
}

async function withCatalog(
  { databaseUrl }: Pick<TrialOptions, "databaseUrl">,
  work: (catalog: SequenceCatalog) => Promise<unknown>,
): Promise<void> {
  const sequences = new Sequences({
    storeUrls: [databaseUrl],
    store: { namespace: "default", callTimeoutMs: 30_000 },
    waitMaxMs: 30_000,
    namesMax: 1,
    clock: systemClock,
    timers: systemTimers,
    onEvent: () => {},
  });
  await work(await sequences.catalog());
  await sequences.close(1_000);
}

function startServer({ databaseUrl, folder }: TrialOptions, index: number): Promise<SnowlaneProcess> {
  const flags = { "--store": `sqlite:${folder}/worker.db`, "--sequence-stores": databaseUrl, "--wait-max": "30s" };
  // A take that is given up because the machine is busy would look like the work of a crash.
  const patient = ["--sequence-store-timeout", "30s"];
  return startSnowlane({ args: [...Object.entries(flags).flat(), ...patient, "--instance", `server-${index}`] });
}

/** All that a server still has in memory, when its database is stopped: a multiple of `valuesOfCall`. */
async function drain(url: string, valuesOfCall: number): Promise<readonly Run[]> {
  const runs: Run[] = [];
  for (const endMs = systemClock.monotonicMs() + 60_000; systemClock.monotonicMs() < endMs; ) {
    try {
      runs.push(...(await reserve(url, valuesOfCall)));
    } catch (error) {
      if (String(error).includes("the trial is over")) return runs;
      await sleep(20);
    }
  }
  throw new Error("a server does not find out that its database is stopped");
}

async function reserve(url: string, count: number): Promise<readonly Run[]> {
  const response = await fetch(`${url}/snowlane.v1.SequenceService/ReserveValues`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: "orders", count }),
    signal: AbortSignal.timeout(60_000),
  });
  if (response.status !== 200) throw new Error(await response.text());
  const { runs } = (await response.json()) as { runs: readonly { firstValue: string; count: number }[] };
  return runs.map(({ firstValue, count }) => ({ first: Number(firstValue), count }));
}

/** Values in runs that begin below the end of another one. */
function countRepeated(runs: readonly Run[]): number {
  let [end, repeatedCount] = [0, 0];
  for (const { first, count } of runs.toSorted((one, other) => one.first - other.first)) {
    repeatedCount += Math.max(0, Math.min(end - first, count));
    end = Math.max(end, first + count);
  }
  return repeatedCount;
}

/** Waits until there are that many. It fails only where none comes for long: a large trial takes its time. */
async function reach(wanted: number, countNow: () => number): Promise<void> {
  let seen = { count: countNow(), ms: systemClock.monotonicMs() };
  for (; countNow() < wanted; await sleep(10)) {
    const ms = systemClock.monotonicMs();
    if (countNow() !== seen.count) seen = { count: countNow(), ms };
    else if (ms - seen.ms > 240_000) throw new Error("callers get no values");
  }
}
