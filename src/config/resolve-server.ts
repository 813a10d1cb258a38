import { homedir, hostname } from "node:os";
import { isAbsolute, join } from "node:path";
import { IdError } from "../errors.ts";
import { checkIssuable } from "../snowflake/generator.ts";
import type { Layout } from "../snowflake/layout.ts";
import type { OpenWorkerOptions } from "../worker/open-worker.ts";
import { sequenceStoreKindOf } from "../sequence/open-sequence-store.ts";
import { urlsOf } from "./sequence-settings.ts";
import { storeKindOf } from "../store/store-kind.ts";
import { type Address, formatAddress, isLoopback, socketPathOf } from "./address.ts";
import { callerProblems } from "./caller-problems.ts";
import type { SettingProblem } from "./load-settings.ts";
import { formatRange, formatRanges } from "./number-ranges.ts";
import type { ServerConfig, WorkerConfig } from "./server-settings.ts";
import { systemClock } from "../clock/clock.ts";
import { problemsOf, type Resolved } from "./resolved.ts";
import { resolveTraces } from "./trace-settings.ts";
import { resolveLayout } from "./resolve-layout.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The options that a worker is opened with, as far as settings give them. */
export type WorkerChoice = Omit<OpenWorkerOptions, "instance" | "version" | "onEvent" | "signal">;

/**
 * Resolves layout and store for a command that issues IDs itself. See {@link resolveStoreUrl} for where there is no
 * default store.
 */
export function resolveWorker(config: WorkerConfig, environment: Environment): Resolved<WorkerChoice> {
  const layout = resolveLayout(config);
  const problems: SettingProblem[] = [...problemsOf(layout)];
  if (layout.kind === "good") {
    problems.push(...issuingProblems(config, layout.value));
    problems.push(...workerProblems(config, layout.value));
  }
  problems.push(...timingProblems(config));
  const storeUrl = resolveStoreUrl(config, environment);
  problems.push(...problemsOf(storeUrl));
  if (layout.kind === "bad" || storeUrl.kind === "bad" || problems.length > 0) return { kind: "bad", problems };
  return { kind: "good", value: toChoice(config, layout.value, storeUrl.value) };
}

/**
 * Resolves the store alone, for a command that runs on this machine.
 *
 * Inside a Kubernetes pod there is no default: each pod would have a file of its own and repeat the others' IDs.
 */
export function resolveStoreUrl(
  { storeUrl }: Pick<WorkerConfig, "storeUrl">,
  environment: Environment,
): Resolved<string> {
  if (storeUrl !== undefined) return { kind: "good", value: storeUrl };
  if (environment["KUBERNETES_SERVICE_HOST"] === undefined) {
    return { kind: "good", value: defaultStoreUrl(environment) };
  }
  const hint =
    "Give it: in a Kubernetes pod there is no default, because each pod would have a file of its own and repeat the others' IDs.";
  return { kind: "bad", problems: [{ place: "--store", hint }] };
}

function toChoice(config: WorkerConfig, layout: Layout, storeUrl: string): WorkerChoice {
  const { namespace, rollbackPolicy, burstMs, datacenterId, datacenterIds, workerIds, workerId } = config;
  const { windowMs, windowMaxMs, renewalPeriodMs, storeTimeoutMs } = config;
  const sequenceSpread = config.sequenceSpread === "on";
  // The default path cannot have a typing error in it.
  const whereNoFolder = config.create || config.storeUrl === undefined ? "create" : "refuse";
  return {
    layout,
    storeUrl,
    whereNoFolder,
    namespace,
    rollbackPolicy,
    sequenceSpread,
    burstMs,
    datacenterId,
    datacenterIds,
    workerIds,
    workerId,
    windowMs,
    windowMaxMs,
    renewalPeriodMs,
    storeTimeoutMs,
  };
}

/**
 * {@link resolveWorker} for a server: a server that other machines can reach must be told which callers to let in, and
 * where its records are.
 */
export function resolveServer(config: ServerConfig, environment: Environment): Resolved<WorkerChoice> {
  const worker = resolveWorker(config, environment);
  const problems: SettingProblem[] = [
    ...problemsOf(worker),
    ...callerProblems(config),
    ...problemsOf(resolveTraces(environment)),
  ];
  if (!isLoopback(config.listen.host)) {
    const value = formatAddress(config.listen);
    if (config.storeUrl === undefined) {
      const hint =
        "Give --store as well: servers on other machines would have a file of their own and repeat these IDs.";
      problems.push({ place: "--listen", value, hint });
    }
  }
  if (config.reusePort && socketPathOf(config.listen) !== undefined) {
    problems.push({ place: "--reuse-port", hint: "Leave it out: one process alone can listen on a Unix socket." });
  } else if (config.reusePort && config.instance === undefined) {
    const hint =
      "Give each server an --instance of its own: servers of one address would each count as a restart of the other.";
    problems.push({ place: "--reuse-port", hint });
  }
  // docs/adr/0171: because of this, pods whose Secret holds the URL of a file do not start.
  const { resumeDir, storeUrl = "sqlite:" } = config;
  if (resumeDir !== undefined && resumeDir !== "off" && storeKindOf(storeUrl) === "sqlite") {
    const hint =
      "Leave it out, because a file needs no notes; or give a --store that all servers share, because servers on several " +
      "machines, each with a file of its own, would repeat each other's IDs.";
    problems.push({ place: "--resume-dir", value: resumeDir, hint });
  }
  problems.push(...statementProblems(config));
  if ((config.tlsCert === undefined) !== (config.tlsKey === undefined)) {
    problems.push({ place: config.tlsCert === undefined ? "--tls-cert" : "--tls-key", hint: "Give both or neither." });
  }
  if (worker.kind === "bad" || problems.length > 0) return { kind: "bad", problems };
  return { kind: "good", value: { ...worker.value, resumeFolder: resumeFolder(config, worker.value, environment) } };
}

function resumeFolder(
  { resumeDir }: ServerConfig,
  { storeUrl }: WorkerChoice,
  environment: Environment,
): string | undefined {
  if (resumeDir === "off" || storeKindOf(storeUrl) === "sqlite") return undefined;
  return resumeDir ?? join(stateFolder(environment), "resume");
}

function issuingProblems({ layoutFields }: WorkerConfig, layout: Layout): SettingProblem[] {
  try {
    checkIssuable(layout);
    return [];
  } catch (error) {
    if (!(error instanceof IdError)) throw error;
    return [
      { place: layoutFields === undefined ? "--layout" : "--layout-fields", hint: `${error.message} Put it below.` },
    ];
  }
}

function workerProblems(config: WorkerConfig, layout: Layout): SettingProblem[] {
  const { datacenterId, datacenterIds, workerIds, workerId } = config;
  const problems: SettingProblem[] = [...workerRangeProblems(config, layout)];
  if (datacenterIds !== undefined && layout.datacenter.bits === 0) {
    const hint = `Leave it out, or choose a layout with datacenters: ${layout.name} has none.`;
    problems.push({ place: "--datacenter-ids", value: formatRanges(datacenterIds), hint });
  } else if (datacenterId !== undefined && datacenterIds?.includes(datacenterId) === false) {
    const hint = `Give one of --datacenter-ids ${formatRanges(datacenterIds)}.`;
    problems.push({ place: "--datacenter-id", value: String(datacenterId), hint });
  }
  const bounds = [
    ["--datacenter-ids", layout.datacenter.bits === 0 ? undefined : datacenterIds?.at(-1), layout.datacenter.max],
    ["--datacenter-id", datacenterId, layout.datacenter.max],
    ["--worker-ids", layout.datacenter.bits > 0 ? undefined : workerIds?.last, layout.worker.max],
    ["--worker-id", workerId, layout.worker.max],
  ] as const;
  for (const [place, value, max] of bounds) {
    if (value === undefined || value <= max) continue;
    problems.push({ place, value: String(value), hint: `The layout ${layout.name} allows 0 to ${max}.` });
  }
  if (workerId !== undefined && datacenterId === undefined && layout.datacenter.bits > 0) {
    problems.push({
      place: "--datacenter-id",
      hint: "Give it with --worker-id: the layout counts workers within a datacenter.",
    });
  }
  return problems;
}

/** Problems of the range of worker IDs that the store is to be bound to. */
function workerRangeProblems({ workerIds, workerId }: WorkerConfig, layout: Layout): SettingProblem[] {
  if (workerIds === undefined) return [];
  const value = formatRange(workerIds);
  if (layout.datacenter.bits > 0) {
    const hint = `Use --datacenter-ids: the layout ${layout.name} has datacenters, which bind a store there.`;
    return [{ place: "--worker-ids", value, hint }];
  }
  if (workerId === undefined || (workerId >= workerIds.first && workerId <= workerIds.last)) return [];
  return [{ place: "--worker-id", value: String(workerId), hint: `Give one of --worker-ids ${value}.` }];
}

/** Problems of time spans that were both given. Those that depend on the store's defaults are found at the start. */
function timingProblems(config: WorkerConfig): SettingProblem[] {
  const { windowMs, windowMaxMs, renewalPeriodMs } = config;
  const problems: SettingProblem[] = [];
  if (windowMs !== undefined && renewalPeriodMs !== undefined && renewalPeriodMs * 2 > windowMs) {
    problems.push({ place: "--renewal-period", value: `${renewalPeriodMs}ms`, hint: "Give at most half of --window." });
  }
  if (windowMs !== undefined && windowMaxMs !== undefined && windowMaxMs < windowMs) {
    problems.push({ place: "--window-max", value: `${windowMaxMs}ms`, hint: "Give at least --window." });
  }
  return problems;
}

/**
 * The databases of sequences: the worker store where none is named and it can keep them.
 *
 * @returns undefined where there is none.
 */
export function resolveSequenceStore(
  { sequenceStores }: Pick<ServerConfig, "sequenceStores">,
  workerStoreUrl: string,
): readonly string[] | undefined {
  if (sequenceStores !== undefined) return sequenceStores === "off" ? undefined : urlsOf(sequenceStores);
  return sequenceStoreKindOf(workerStoreUrl) === undefined ? undefined : [workerStoreUrl];
}

/** One SQLite file in the user's state directory. */
function defaultStoreUrl(environment: Environment): string {
  return `sqlite:${join(stateFolder(environment), "snowlane.db")}`;
}

/** Ours in the user's state directory (XDG Base Directory Specification, which ignores a relative path). */
function stateFolder(environment: Environment): string {
  const stated = environment["XDG_STATE_HOME"];
  const folder = stated !== undefined && isAbsolute(stated) ? stated : join(homeFolder(environment), ".local", "state");
  return join(folder, "snowlane");
}

function homeFolder(environment: Environment): string {
  const folder = environment["HOME"] ?? homeOfUser();
  // A relative path would be another store in each working folder, and these would repeat each other's IDs.
  if (folder !== undefined && isAbsolute(folder)) return folder;
  const message =
    "This user has no home folder, in which the state would be kept. Set XDG_STATE_HOME to a folder, or HOME.";
  throw new IdError("INVALID_CONFIG", message, { metadata: { setting: "HOME" } });
}

/** undefined: the system does not know this user, as in many containers. */
function homeOfUser(): string | undefined {
  try {
    return homedir();
  } catch {
    return undefined;
  }
}

/** Host name and port, which show the record that was ours before a restart. */
export function defaultInstance(listen: Address): string {
  return `${hostname()}:${socketPathOf(listen) ?? listen.port}`;
}

/** The problems of statements about the past that name a time to come. */
function statementProblems({ backfillKnownSince, backfillStoreKeptUntil }: ServerConfig): readonly SettingProblem[] {
  const nowMs = systemClock.nowMs();
  const times = [
    ["--backfill-known-since", backfillKnownSince?.sinceMs],
    ["--backfill-store-kept-until", backfillStoreKeptUntil],
  ] as const;
  const hint = "Give a time in the past: the statement is about what has happened.";
  return times.flatMap(([place, ms]) =>
    ms === undefined || ms <= nowMs ? [] : [{ place, value: new Date(ms).toISOString(), hint }],
  );
}
