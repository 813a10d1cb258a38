/**
 * How a loss of data is tried: on a real store, under a process that holds the worker ID which another one then asks
 * for.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../src/clock/clock.ts";
import { IdError } from "../../src/errors.ts";
import { writeQuarantine } from "../../src/lease/quarantine.ts";
import { openStore } from "../../src/store/open-store.ts";
import type { RecordStore } from "../../src/store/record-store.ts";
import type { OpenWorkerOptions } from "../../src/worker/open-worker.ts";
import { duplicatesOf, IssuingWorker } from "../support/processes/issuing-worker.ts";
import { until } from "../support/processes/until.ts";
import type { ShownLossStage } from "./shown-losses.ts";
import type { UnseenLossStage } from "./unseen-losses.ts";

type Event = IssuingWorker["events"][number];
type Grant = Extract<Event, { kind: "acquired" }>;

/** What came of a loss. Times are Unix milliseconds. */
export interface LossRun {
  readonly lostAtMs: number;
  /** The grants of the worker ID since. */
  readonly grants: readonly Grant[];
  /** Those that may say that something was lost: of the process that held the worker ID, and of the other one. */
  readonly events: readonly Event[];
  readonly duplicateCount: number;
}

/** {@link LossRun}, with the step of the runbook. */
interface UnseenLossRun extends LossRun {
  /** What a process said that took the worker ID without that step, while nobody held it. */
  readonly unaware: readonly Event[];
  /** The quarantine that the operator put down. */
  readonly quarantineUntilMs: number;
}

const shownTimes = { windowMs: 2_000, windowMaxMs: 2_000, renewalPeriodMs: 500, ttlMs: 5_000, storeTimeoutMs: 1_000 };

/** Q of {@link runShownLoss}: a window of 2 s, the lead of 2 s, and the error of two clocks. */
export const shownQuarantineMs = 5_000;

/** Q of {@link runUnseenLoss}, likewise. */
export const unseenQuarantineMs = (windowMs: number): number => windowMs + 3_000;

/** Tries a loss that shows: a process holds a worker ID, and another one asks for it afterwards. */
export async function runShownLoss(stage: ShownLossStage): Promise<LossRun> {
  const run = new WorkersOfRun(stage.url, shownTimes);
  try {
    await (await run.start(6)).stop();
    await stage.prepare?.();
    const holder = await run.start(5);
    await untilRenewed(holder, 2);
    const lostAtMs = systemClock.nowMs();
    const granted = grantsOf(holder).length;
    await stage.lose();
    // The store has forgotten that anybody ever had this worker ID, while its holder still issues.
    return { lostAtMs, ...(await run.goOn(holder, granted)) };
  } finally {
    await run.end();
  }
}

/** Tries a loss that goes unseen: first under nobody, then under a holder and with the step of the runbook. */
export async function runUnseenLoss(stage: UnseenLossStage): Promise<UnseenLossRun> {
  const { url, windowMs } = stage;
  const run = new WorkersOfRun(url, unseenTimes(windowMs));
  try {
    await (await run.start(5)).stop();
    await stage.keep();
    await (await run.start(5)).stop();
    await stage.lose();
    const unaware = await run.start(5);
    await unaware.stop();
    await stage.keep();
    const holder = await run.start(5);
    await untilRenewed(holder, 1);
    const lostAtMs = systemClock.nowMs();
    const granted = grantsOf(holder).length;
    await stage.lose();
    const quarantineUntilMs = await quarantine(stage);
    return { lostAtMs, quarantineUntilMs, unaware: unaware.events, ...(await run.goOn(holder, granted)) };
  } finally {
    await run.end();
  }
}

/** Starts a process with the times of {@link runUnseenLoss}. */
export function startUnaware({ url, windowMs }: Pick<UnseenLossStage, "url" | "windowMs">): Promise<IssuingWorker> {
  return startPinned(url, 5, unseenTimes(windowMs));
}

/** Whether a process says that something was lost. */
export function tellsOfLoss({ kind }: Event): boolean {
  return kind === "waiting" || kind === "incarnation-changed";
}

/** Opens a store for some work. */
export async function withStore<T>(url: string, work: (store: RecordStore) => Promise<T>): Promise<T> {
  const store = await openStore(url, { namespace: "default", callTimeoutMs: 60_000 });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

type Times = Pick<OpenWorkerOptions, keyof typeof shownTimes>;

function unseenTimes(windowMs: number): Times {
  const ttlMs = windowMs + 3_000;
  return { windowMs, windowMaxMs: windowMs, renewalPeriodMs: 2_000, ttlMs, storeTimeoutMs: 10_000 };
}

/** Without spread, two that issue in the same millisecond repeat each other for certain. */
function startPinned(storeUrl: string, workerId: number, times: Times): Promise<IssuingWorker> {
  return IssuingWorker.start({ storeUrl, datacenterId: 1, workerId, sequenceSpread: false, ...times });
}

/** The processes of one run. */
class WorkersOfRun {
  readonly #url: string;
  readonly #times: Times;
  readonly #workers: IssuingWorker[] = [];

  constructor(url: string, times: Times) {
    this.#url = url;
    this.#times = times;
  }

  async start(workerId: number): Promise<IssuingWorker> {
    const worker = await startPinned(this.#url, workerId, this.#times);
    this.#workers.push(worker);
    return worker;
  }

  /** Starts another process, and waits until it or the one that held the worker ID has it again. */
  async goOn(holder: IssuingWorker, granted: number): Promise<Omit<LossRun, "lostAtMs">> {
    const other = await this.start(5).catch(takenBack);
    const grants = (): readonly Grant[] => [...grantsOf(holder).slice(granted), ...grantsOf(other)];
    await until("the worker ID is granted again", () => grants().length > 0);
    await sleep(500);
    await Promise.all([holder.stop(), other?.stop()]);
    const events = [...holder.events, ...(other?.events ?? [])];
    const duplicateCount = duplicatesOf(holder.ids, other?.ids ?? []).length;
    return { grants: grants(), events, duplicateCount };
  }

  async end(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.stop(0).catch(() => {})));
  }
}

/** Both want the worker ID after the quarantine: where the holder is faster, the other gets that answer and ends. */
function takenBack(error: unknown): undefined {
  if (!(error instanceof IdError) || error.reason !== "NO_FREE_WORKER_ID") throw error;
}

function grantsOf(worker: IssuingWorker | undefined): readonly Grant[] {
  return (worker?.events ?? []).filter((event) => event.kind === "acquired");
}

async function untilRenewed({ source }: IssuingWorker, times: number): Promise<void> {
  const { renewed } = source.status().counters;
  await until("it has renewed", () => source.status().counters.renewed >= renewed + times);
}

/** Writes the same as `snowlane workers quarantine`. */
async function quarantine({ url, windowMs }: UnseenLossStage): Promise<number> {
  return withStore(url, async (store) => {
    const sinceMs = systemClock.nowMs();
    const untilMs = sinceMs + unseenQuarantineMs(windowMs);
    return (await writeQuarantine(store, { sinceMs, untilMs, reason: "restored by an operator" })).untilMs;
  });
}
