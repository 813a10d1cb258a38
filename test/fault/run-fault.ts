import { systemClock } from "../../src/clock/clock.ts";
import { clockFaults } from "./clock-faults.ts";
import { diskFaults } from "./disk-faults.ts";
import type { Fault } from "./fault.ts";
import { FaultTrial, type TrialOptions, type TrialOutcome } from "./fault-trial.ts";
import { processFaults } from "./process-faults.ts";
import { remoteStoreFaults } from "./remote-store-faults.ts";
import { storeFileFaults } from "./store-file-faults.ts";
import { takeoverFaults } from "./takeover-faults.ts";

/** Every fault that is injected into real servers. */
export const faults: readonly Fault[] = [
  ...processFaults,
  ...takeoverFaults,
  ...clockFaults,
  ...diskFaults,
  ...storeFileFaults,
  ...remoteStoreFaults,
];

/** Injects a fault `count` times into `lanes` deployments at once; what came of them together. */
export async function runFault(
  fault: Fault,
  options: TrialOptions & { readonly count: number; readonly lanes: number },
): Promise<TrialOutcome> {
  const { count, lanes } = options;
  const share = (lane: number): number => Math.floor((count + lane) / lanes);
  const laneCounts = Array.from({ length: lanes }, (_, lane) => share(lane)).filter((each) => each > 0);
  const outcomes = await Promise.all(
    laneCounts.map((each, lane) => runLane(fault, each, { ...options, seed: options.seed + lane })),
  );
  return outcomes.reduce(together);
}

/**
 * Pieces one after the other until `minutes` have passed; a control ends with the first that shows its rule missing.
 * Each is a deployment of its own, with a seed of its own, the first `options.seed`; its problems name it.
 */
export async function runPieces(
  fault: Fault,
  options: TrialOptions & {
    readonly count: number;
    readonly minutes: number;
    readonly onPiece: (seed: number, outcome: TrialOutcome) => void;
  },
): Promise<TrialOutcome> {
  const endMs = systemClock.monotonicMs() + options.minutes * 60_000;
  const outcomes: TrialOutcome[] = [];
  let isEnough = false;
  do {
    const seed = options.seed + outcomes.length;
    const outcome = await runPiece(fault, { ...options, seed });
    outcomes.push(outcome);
    options.onPiece(seed, outcome);
    isEnough = options.gutted !== undefined && showsFault(outcome);
  } while (systemClock.monotonicMs() < endMs && !isEnough);
  return outcomes.reduce(together);
}

async function runPiece(fault: Fault, options: TrialOptions & { readonly count: number }): Promise<TrialOutcome> {
  const name = (problem: string): string => `seed ${options.seed}: ${problem}`;
  try {
    const outcome = await runLane(fault, options.count, options);
    return { ...outcome, problems: outcome.problems.map(name) };
  } catch (error) {
    return { ...noOutcome, errors: [name(error instanceof Error ? error.message : String(error))] };
  }
}

/** Whether a promise was broken, beyond what could not be played. */
export function showsFault({ duplicateCount, problems }: TrialOutcome): boolean {
  return duplicateCount > 0 || problems.length > 0;
}

/** What a piece has to say as soon as it ends: its counts, then every problem, and why it was not played to its end. */
export function pieceLines({ name }: Fault, seed: number, outcome: TrialOutcome): readonly string[] {
  const { injectedCount, issuedCount, duplicateCount, problems, errors } = outcome;
  const counts = `${injectedCount} rounds, ${issuedCount.toLocaleString("en-US")} IDs, ${duplicateCount} duplicates`;
  return [
    `${name}, seed ${seed}: ${counts}, ${problems.length} problems, ${errors.length} errors`,
    ...problems.map((problem) => `  PROBLEM: ${problem}`),
    ...errors.map((error) => `  NOT PLAYED TO ITS END: ${error}`),
  ];
}

/** Of a trial that could not be played. */
export const noOutcome: TrialOutcome = {
  injectedCount: 0,
  issuedCount: 0,
  duplicateCount: 0,
  takeoverCount: 0,
  requestCount: 0,
  failedCount: 0,
  longestGapMs: 0,
  problems: [],
  errors: [],
  failures: [],
  notes: [],
};

const running = new Set<FaultTrial>();

/** Ends what is under way and leaves nothing behind. */
export async function abandonAll(): Promise<void> {
  await Promise.all([...running].map((trial) => trial.abandon()));
}

async function runLane(fault: Fault, count: number, options: TrialOptions): Promise<TrialOutcome> {
  const trial = new FaultTrial({ ...options, workerIdCount: fault.workerIdCount });
  running.add(trial);
  try {
    await fault.inject(trial, count);
    const outcome = await trial.finish();
    if (fault.failures === "allowed" || outcome.failedCount === 0) return outcome;
    const problem = `${outcome.failedCount} requests failed: ${outcome.failures.join("; ")}`;
    return { ...outcome, problems: [...outcome.problems, problem] };
  } catch (error) {
    await trial.abandon();
    throw error;
  } finally {
    running.delete(trial);
  }
}

function together(one: TrialOutcome, other: TrialOutcome): TrialOutcome {
  return {
    injectedCount: one.injectedCount + other.injectedCount,
    issuedCount: one.issuedCount + other.issuedCount,
    duplicateCount: one.duplicateCount + other.duplicateCount,
    takeoverCount: one.takeoverCount + other.takeoverCount,
    requestCount: one.requestCount + other.requestCount,
    failedCount: one.failedCount + other.failedCount,
    longestGapMs: Math.max(one.longestGapMs, other.longestGapMs),
    problems: [...one.problems, ...other.problems],
    errors: [...one.errors, ...other.errors],
    failures: [...one.failures, ...other.failures],
    notes: [...new Set([...one.notes, ...other.notes])],
  };
}
