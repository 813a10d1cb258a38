import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { type Clock, systemClock, systemTimers, systemUptimeMs } from "../clock.ts";
import { SnowflakeGenerator } from "../snowflake/generator.ts";
import type { Layout } from "../snowflake/layout.ts";
import type { RollbackPolicy } from "../snowflake/rollback-policy.ts";
import type { IdSource } from "./id-source.ts";
import { kernelRandom128 } from "./kernel-random.ts";
import { openStore } from "./open-store.ts";
import { openResumeFolder } from "./resume-folder.ts";
import type { ResumeJournal } from "./resume-record.ts";
import { WorkerDirectory } from "./worker-directory.ts";
import type { WorkerEvent } from "./worker-event.ts";
import type { WorkerList } from "./worker-list.ts";
import { createHolder } from "./worker-record.ts";
import { settleWorkerSettings } from "./worker-settings.ts";
import { WorkerSource } from "./worker-source.ts";

/**
 * What a worker is opened with. Lengths of time are milliseconds; what is absent is the store's or the generator's
 * default.
 */
export interface OpenWorkerOptions {
  /** `sqlite:PATH` and so on: see openStore. */
  readonly storeUrl: string;
  readonly namespace: string;
  readonly layout: Layout;
  /** Who this is over restarts; at most 100 characters count. */
  readonly instance: string;
  /** Of the program; shown beside the worker ID. */
  readonly version: string;
  readonly rollbackPolicy?: RollbackPolicy | undefined;
  readonly sequenceSpread?: boolean | undefined;
  readonly burstMs?: number | undefined;
  readonly datacenterId?: number | undefined;
  readonly workerId?: number | undefined;
  readonly datacenterIds?: readonly number[] | undefined;
  readonly windowMs?: number | undefined;
  readonly windowMaxMs?: number | undefined;
  readonly renewalPeriodMs?: number | undefined;
  readonly ttlMs?: number | undefined;
  /** How long a start goes on while the store does not answer as it should. Default: without end, until `signal`. */
  readonly startPatienceMs?: number | undefined;
  /** The longest that a call waits for IDs. Default 1,000. */
  readonly waitMaxMs?: number | undefined;
  /** The longest that one call to the store takes. Default 5,000 for a file, 1,000 for a server. */
  readonly storeTimeoutMs?: number | undefined;
  /**
   * A folder of this machine for what lets a restart go on while the store is down; see resume-record.ts. Absent = no
   * restart goes on. Not used with a local file as the store.
   */
  readonly resumeFolder?: string | undefined;
  readonly onEvent?: ((event: WorkerEvent) => void) | undefined;
  /** The wall clock and its monotonic companion. Default: those of this machine. */
  readonly clock?: Clock | undefined;
  /** Gives up the start. */
  readonly signal?: AbortSignal | undefined;
}

/** A worker ID that is held, and the IDs that come with it. */
export interface Worker {
  readonly source: IdSource;
  /** Equal for all processes of one deployment, different otherwise. 32 hex digits. */
  readonly deploymentFingerprint: string;
  /**
   * All worker IDs of the namespace, as the store has them: at most a second old.
   *
   * @throws IdError STORE_UNAVAILABLE; INVALID_CONFIG for records that are not Snowlane's.
   */
  listWorkers(): Promise<WorkerList>;
  /**
   * Gives the worker ID back and closes the store. Waits at most `timeoutMs` for the store; not one ID is issued
   * afterwards in either case.
   */
  close(timeoutMs: number): Promise<void>;
}

/** For closing after a start that came to nothing. */
const giveUpTimeoutMs = 1_000;

/**
 * Opens the store and acquires a worker ID.
 *
 * Resolves with the first grant; while the store does not answer it goes on trying, for `startPatienceMs` or until
 * `signal`.
 *
 * @throws IdError INVALID_CONFIG, LAYOUT_MISMATCH, NO_FREE_WORKER_ID, CLOCK_BEFORE_EPOCH, TIMESTAMP_EXHAUSTED,
 * STORE_UNAVAILABLE; the signal's reason.
 */
export async function openWorker(options: OpenWorkerOptions): Promise<Worker> {
  const { layout, namespace, storeUrl, signal, clock = systemClock } = options;
  const callTimeoutMs = options.storeTimeoutMs ?? (storeUrl.startsWith("sqlite:") ? 5_000 : 1_000);
  const store = await openStore(storeUrl, { namespace, callTimeoutMs });
  try {
    const host = hostname();
    const holder = createHolder({
      instance: options.instance,
      host,
      processId: process.pid,
      bootId: readBootId(),
      sinceMs: clock.nowMs(),
      version: options.version,
    });
    const settings = settleWorkerSettings({ ...options, holder }, layout, store);
    const generator = new SnowflakeGenerator({
      layout,
      policy: options.rollbackPolicy,
      burstMs: options.burstMs,
      leadMaxMs: settings.leadMaxMs,
      sequenceSpread: options.sequenceSpread,
      random: Math.random,
    });
    const source = new WorkerSource({
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
        journal: openJournal(options),
      },
    });
    await startUnlessAborted(source, signal);
    const directory = new WorkerDirectory(store, clock);
    return {
      source,
      deploymentFingerprint: source.deploymentId ?? "",
      listWorkers: () => directory.list(),
      close: async (timeoutMs) => {
        await source.close(timeoutMs);
        await store.close();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function startUnlessAborted(source: WorkerSource, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal?.reason);
  signal?.addEventListener("abort", onAbort);
  try {
    await Promise.race([source.start(), aborted.promise]);
  } catch (error) {
    await source.close(giveUpTimeoutMs);
    throw error;
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
}

function openJournal({ namespace, storeUrl, resumeFolder, onEvent }: OpenWorkerOptions): ResumeJournal | undefined {
  // Where locks tell who lives, the store itself is a local file.
  if (resumeFolder === undefined || storeUrl.startsWith("sqlite:")) return undefined;
  const journal = openResumeFolder(resumeFolder, { namespace, storeUrl: withoutPassword(storeUrl) });
  if (journal === undefined) onEvent?.({ kind: "no-resume", folder: resumeFolder });
  return journal;
}

/**
 * A password that was changed makes no other store of it, and is not for a file. All else may: a user and a parameter
 * can choose the schema that the records are in. Up to the last @, as a password may hold / and @ unescaped.
 */
function withoutPassword(url: string): string {
  return url.replace(/^([a-z]+:\/\/[^:@/?#]*):.*@/, "$1@");
}

/** Changes with each boot; empty where there is none to read. */
function readBootId(): string {
  if (process.platform !== "linux") return "";
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "";
  }
}
