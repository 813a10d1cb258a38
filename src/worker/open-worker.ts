import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { type Clock, systemClock, systemTimers, systemUptimeMs } from "../clock/clock.ts";
import { lengthOfTime } from "../clock/length-of-time.ts";
import { IdError } from "../errors.ts";
import { type GeneratorOptions, SnowflakeGenerator } from "../snowflake/generator.ts";
import type { IdSource } from "./id-source.ts";
import { kernelRandom128 } from "../kernel-random.ts";
import { openStore } from "../store/open-store.ts";
import type { RecordStore, StoreOptions } from "../store/record-store.ts";
import { defaultStoreTimeoutMs } from "../store/store-timeout.ts";
import type { PastGrant, PastRequest } from "../lease/claim-past.ts";
import type { LayoutRecord } from "../lease/records/layout-record.ts";
import { DatabaseNote } from "../lease/resume/database-note.ts";
import { bindSequences, type NamedDatabase, readBinding } from "../lease/sequences-binding.ts";
import { openResumeFolder } from "../lease/resume/resume-folder.ts";
import type { ResumeJournal } from "../lease/resume/resume-record.ts";
import { WorkerDirectory } from "./worker-directory.ts";
import type { WorkerEvent } from "../lease/worker-event.ts";
import type { WorkerList } from "../lease/worker-list.ts";
import { createHolder } from "../lease/records/worker-record.ts";
import { resolveWorkerSettings, type WorkerOptions } from "../lease/worker-settings.ts";
import { WorkerSource } from "./worker-source.ts";

/**
 * The options of a worker: those of its lease and of its generator, and some of its own. Lengths of time are
 * milliseconds; an absent option has the store's or the generator's default.
 */
export interface OpenWorkerOptions
  extends Omit<WorkerOptions, "holder">,
    Pick<GeneratorOptions, "layout" | "burstMs" | "sequenceSpread"> {
  /** `sqlite:PATH` and so on: see openStore. */
  readonly storeUrl: string;
  /** See {@link StoreOptions}. Default `create`. */
  readonly whereNoFolder?: StoreOptions["whereNoFolder"];
  /** The name of this process, which stays the same over restarts; only its first 100 characters are used. */
  readonly instance: string;
  /** The version of the program, which the worker's record shows. */
  readonly version: string;
  /** Default `advance`. */
  readonly rollbackPolicy?: GeneratorOptions["policy"];
  /** The longest that a call waits for IDs. Default 1,000. */
  readonly waitMaxMs?: number | undefined;
  /** The longest that the start may take, no matter what it waits for. Absent = without end. */
  readonly startTimeoutMs?: number | undefined;
  /** The longest that one call to the store takes. Default: a sixth of the window, at most 5,000; 5,000 for a file. */
  readonly storeTimeoutMs?: number | undefined;
  /**
   * A folder of this machine for resume records, which let a restart continue while the store is down; see
   * resume-record.ts. Absent = no restart does. Not used if the store is a local file.
   */
  readonly resumeFolder?: string | undefined;
  /** Called with each event of the worker, for the log and metrics. Must not throw. */
  readonly onEvent?: ((event: WorkerEvent) => void) | undefined;
  /** The wall clock and its monotonic companion. Default: those of this machine. */
  readonly clock?: Clock | undefined;
  /** Gives up the start. */
  readonly signal?: AbortSignal | undefined;
}

/** The datacenter IDs of a layout that a store may hand out, or the worker IDs if the layout has no datacenters. */
export type StoreBinding = Pick<LayoutRecord, "datacenterIds" | "workerIds">;

const boundToAll: StoreBinding = { datacenterIds: "all", workerIds: "all" };

/** A worker ID that is held, and the IDs that come with it. */
export interface Worker {
  readonly source: IdSource;
  /**
   * Equal for all processes of one deployment, different otherwise: 32 hex digits. Empty until the layout record was
   * read from the store, or from a resume record.
   */
  readonly deploymentFingerprint: string;
  /** Known when the fingerprint is. */
  readonly storeBinding: StoreBinding;
  /**
   * All worker IDs of the namespace, as the store has them: at most a second old.
   *
   * @throws IdError STORE_UNAVAILABLE; INVALID_CONFIG for records that are not Snowlane's.
   */
  listWorkers(): Promise<WorkerList>;
  /**
   * Claims the past for a caller, without touching the worker ID that is held.
   *
   * @throws IdError as the outcomes `refused` and `failed` of claimPast.
   */
  claimPast(request: PastRequest): Promise<PastGrant>;
  /** Whether the deployment has noted a database of sequences. @throws IdError as {@link readBinding}. */
  hasSequences(): Promise<boolean>;
  /**
   * Notes or compares the database of sequences: see {@link bindSequences}. While the store does not answer, a database
   * that an earlier life of this process has compared is accepted.
   */
  bindSequences(database: NamedDatabase): Promise<boolean>;
  /**
   * Gives the worker ID back and closes the store. Waits at most `timeoutMs` for the store; not one ID is issued
   * afterwards in either case.
   */
  close(timeoutMs: number): Promise<void>;
}

/** A worker whose worker ID is being acquired: its source refuses calls until then. */
export interface StartingWorker extends Worker {
  /**
   * Resolves with the first grant. If it rejects, the worker is closed.
   *
   * @throws IdError as {@link openWorker}; the signal's reason.
   */
  readonly granted: Promise<void>;
}

/** How long closing may take after a start that failed. */
const giveUpTimeoutMs = 1_000;

/**
 * Opens the store and acquires a worker ID.
 *
 * Resolves with the first grant; while the store does not answer it retries, for `startPatienceMs` or until
 * `signal`.
 *
 * @throws IdError INVALID_CONFIG, LAYOUT_MISMATCH, NO_FREE_WORKER_ID, CLOCK_BEFORE_EPOCH, TIMESTAMP_EXHAUSTED,
 * STORE_UNAVAILABLE; the signal's reason.
 */
export async function openWorker(options: OpenWorkerOptions): Promise<Worker> {
  const worker = await beginWorker(options);
  await worker.granted;
  return worker;
}

/**
 * Opens the store and begins to acquire a worker ID. See {@link openWorker}.
 *
 * @throws IdError INVALID_CONFIG for a store that cannot be opened.
 */
export async function beginWorker(options: OpenWorkerOptions): Promise<StartingWorker> {
  const { namespace, storeUrl, whereNoFolder, clock = systemClock } = options;
  const callTimeoutMs = options.storeTimeoutMs ?? defaultStoreTimeoutMs(storeUrl, options.windowMs);
  const store = await openStore(storeUrl, { namespace, callTimeoutMs, whereNoFolder });
  const note = new DatabaseNote();
  let source: WorkerSource;
  try {
    source = createSource(options, store, clock, note);
  } catch (error) {
    await store.close();
    throw error;
  }
  const close = async (timeoutMs: number): Promise<void> => {
    await source.close(timeoutMs);
    await store.close();
  };
  const granted = startWithin(source, options).catch(async (error: unknown) => {
    await close(giveUpTimeoutMs);
    throw error;
  });
  // Otherwise the rejection is unhandled if the caller closes before it awaits this promise.
  granted.catch(() => {});
  const directory = new WorkerDirectory(store, clock);
  return {
    source,
    granted,
    get deploymentFingerprint() {
      return source.layoutRecord?.deploymentId ?? "";
    },
    get storeBinding() {
      return source.layoutRecord ?? boundToAll;
    },
    listWorkers: () => directory.list(),
    claimPast: (request) => source.claimPast(request),
    hasSequences: async () => (await readBinding(store)) !== undefined,
    bindSequences: async (database) => {
      try {
        const isNew = await bindSequences(store, database, clock.nowMs());
        note.set(database.databaseId);
        return isNew;
      } catch (error) {
        const isAway = error instanceof IdError && error.reason === "STORE_UNAVAILABLE";
        if (isAway && note.has(database.databaseId)) return false;
        throw error;
      }
    },
    close,
  };
}

function createSource(options: OpenWorkerOptions, store: RecordStore, clock: Clock, note: DatabaseNote): WorkerSource {
  const { layout } = options;
  const holder = createHolder({
    instance: options.instance,
    host: hostname(),
    processId: process.pid,
    bootId: readBootId(),
    sinceMs: clock.nowMs(),
    version: options.version,
  });
  const settings = resolveWorkerSettings({ ...options, holder }, layout, store);
  const generator = new SnowflakeGenerator({
    layout,
    policy: options.rollbackPolicy,
    burstMs: options.burstMs,
    leadMaxMs: settings.leadMaxMs,
    sequenceSpread: options.sequenceSpread,
    random: Math.random,
  });
  return new WorkerSource({
    store,
    settings,
    generator,
    waitMaxMs: options.waitMaxMs ?? 1_000,
    ports: {
      clock,
      timers: systemTimers,
      uptimeMs: systemUptimeMs,
      random128: kernelRandom128,
      random: Math.random,
      report: options.onEvent ?? (() => {}),
      journal: openJournal(options, note),
    },
  });
}

/** Starts, unless `signal` or the time limit of the start ends it before. */
async function startWithin(
  source: WorkerSource,
  { signal, startTimeoutMs }: Pick<OpenWorkerOptions, "signal" | "startTimeoutMs">,
): Promise<void> {
  signal?.throwIfAborted();
  const ended = Promise.withResolvers<never>();
  const onAbort = (): void => ended.reject(signal?.reason);
  signal?.addEventListener("abort", onAbort);
  const cancel =
    startTimeoutMs === undefined
      ? undefined
      : systemTimers.after(startTimeoutMs, () => ended.reject(lateStart(source, startTimeoutMs)));
  try {
    await Promise.race([source.start(), ended.promise]);
  } finally {
    cancel?.();
    signal?.removeEventListener("abort", onAbort);
  }
}

/** The error of a start that took too long, with what it waited for. */
function lateStart({ state, phase }: WorkerSource, startTimeoutMs: number): IdError {
  const shown = state.kind === "not-serving" ? state.error : undefined;
  const problem = shown?.cause instanceof IdError ? shown.cause : shown;
  const { reason, message } = problem ?? { reason: "STORE_UNAVAILABLE", message: "" };
  const text = `The start took longer than ${lengthOfTime(startTimeoutMs)} (--start-timeout). ${message}`.trim();
  const metadata = { ...problem?.metadata, start_timeout_ms: startTimeoutMs };
  // In the phase `waiting` the start waits for a worker ID that may be used; otherwise the store has not answered yet.
  const waits = phase === "waiting" ? "NO_FREE_WORKER_ID" : "STORE_UNAVAILABLE";
  return new IdError(reason === "WORKER_LEASE_LOST" ? waits : reason, text, { metadata, cause: problem });
}

function openJournal(
  { namespace, storeUrl, resumeFolder, onEvent }: OpenWorkerOptions,
  note: DatabaseNote,
): ResumeJournal | undefined {
  // A store whose locks show whether a holder runs is a local file itself.
  if (resumeFolder === undefined || storeUrl.startsWith("sqlite:")) return undefined;
  const journal = openResumeFolder(resumeFolder, { namespace, storeUrl: withoutPassword(storeUrl) });
  if (journal === undefined) onEvent?.({ kind: "no-resume", folder: resumeFolder });
  return journal && note.within(journal);
}

/**
 * A changed password does not make the URL another store's, and a password must not be written to a file. All other
 * parts can make it another store's: a user and a parameter can choose the schema of the records. Cuts up to the last
 * @, because a password may hold / and @ unescaped.
 */
function withoutPassword(url: string): string {
  return url.replace(/^([a-z]+:\/\/[^:@/?#]*):.*@/, "$1@");
}

/** The boot ID, which changes with each boot; empty if the system has none. */
function readBootId(): string {
  if (process.platform !== "linux") return "";
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "";
  }
}
