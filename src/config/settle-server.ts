import { homedir, hostname } from "node:os";
import { isAbsolute, join } from "node:path";
import { IdError } from "../errors.ts";
import { checkIssuable } from "../snowflake/generator.ts";
import type { Layout } from "../snowflake/layout.ts";
import type { OpenWorkerOptions } from "../worker/open-worker.ts";
import { windowSlackMinMs, windowSlackMs } from "../worker/worker-settings.ts";
import { type Address, formatAddress, isLoopback } from "./address.ts";
import type { SettingProblem } from "./load-settings.ts";
import { formatRanges } from "./number-ranges.ts";
import type { ServerConfig, WorkerConfig } from "./server-settings.ts";
import { storeKind } from "./store-url.ts";
import { problemsOf, type Settled } from "./settled.ts";
import { settleLayout } from "./settle-layout.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** What a worker is opened with, as far as settings say it. */
export type WorkerChoice = Omit<OpenWorkerOptions, "instance" | "version" | "onEvent" | "signal">;

/**
 * Settles layout and store for a command that issues IDs itself. See {@link settleStoreUrl} for where there is no
 * default store.
 */
export function settleWorker(config: WorkerConfig, environment: Environment): Settled<WorkerChoice> {
  const layout = settleLayout(config);
  const problems: SettingProblem[] = [...problemsOf(layout)];
  if (layout.kind === "good") {
    problems.push(...issuingProblems(config, layout.value));
    problems.push(...workerProblems(config, layout.value));
  }
  problems.push(...timingProblems(config, layout.kind === "good" ? windowSlackMs(layout.value) : windowSlackMinMs));
  const storeUrl = settleStoreUrl(config, environment);
  problems.push(...problemsOf(storeUrl));
  if (layout.kind === "bad" || storeUrl.kind === "bad" || problems.length > 0) return { kind: "bad", problems };
  return { kind: "good", value: toChoice(config, layout.value, storeUrl.value) };
}

/**
 * Settles the store alone, for a command that runs on this machine.
 *
 * Inside a Kubernetes pod there is no default: each pod would have a file of its own and repeat the others' IDs.
 */
export function settleStoreUrl(
  { storeUrl }: Pick<WorkerConfig, "storeUrl">,
  environment: Environment,
): Settled<string> {
  if (storeUrl !== undefined) return { kind: "good", value: storeUrl };
  if (environment["KUBERNETES_SERVICE_HOST"] === undefined) {
    return { kind: "good", value: defaultStoreUrl(environment) };
  }
  const cure =
    "Give it: in a Kubernetes pod there is no default, as each pod would have a file of its own and repeat the others' IDs.";
  return { kind: "bad", problems: [{ place: "--store", cure }] };
}

function toChoice(config: WorkerConfig, layout: Layout, storeUrl: string): WorkerChoice {
  const { namespace, rollbackPolicy, burstMs, datacenterId, datacenterIds, workerId } = config;
  const { windowMs, windowMaxMs, renewalPeriodMs, ttlMs } = config;
  const sequenceSpread = config.sequenceSpread === "on";
  return {
    layout,
    storeUrl,
    namespace,
    rollbackPolicy,
    sequenceSpread,
    burstMs,
    datacenterId,
    datacenterIds,
    workerId,
    windowMs,
    windowMaxMs,
    renewalPeriodMs,
    ttlMs,
  };
}

/**
 * {@link settleWorker} for a server: whoever can be reached from other machines says who may call, and where its
 * records are.
 */
export function settleServer(config: ServerConfig, environment: Environment): Settled<WorkerChoice> {
  const worker = settleWorker(config, environment);
  const problems: SettingProblem[] = [...problemsOf(worker)];
  if (!isLoopback(config.listen.host)) {
    const value = formatAddress(config.listen);
    if (config.auth === undefined) {
      const cure = "Other machines can reach it: say --auth none if everyone there may call, or listen on 127.0.0.1.";
      problems.push({ place: "--listen", value, cure });
    }
    if (config.storeUrl === undefined) {
      const cure =
        "Give --store as well: servers on other machines would have a file of their own and repeat these IDs.";
      problems.push({ place: "--listen", value, cure });
    }
  }
  if ((config.tlsCert === undefined) !== (config.tlsKey === undefined)) {
    problems.push({ place: config.tlsCert === undefined ? "--tls-cert" : "--tls-key", cure: "Give both or neither." });
  }
  if (config.tlsClientCa !== undefined && config.tlsCert === undefined) {
    problems.push({
      place: "--tls-client-ca",
      value: config.tlsClientCa,
      cure: "Give --tls-cert and --tls-key as well.",
    });
  }
  if (worker.kind === "bad" || problems.length > 0) return { kind: "bad", problems };
  return { kind: "good", value: { ...worker.value, resumeFolder: resumeFolder(config, worker.value, environment) } };
}

function resumeFolder(
  { resumeDir }: ServerConfig,
  { storeUrl }: WorkerChoice,
  environment: Environment,
): string | undefined {
  if (resumeDir === "off" || storeKind(storeUrl) === "sqlite") return undefined;
  return resumeDir ?? join(stateFolder(environment), "resume");
}

function issuingProblems({ layoutFields }: WorkerConfig, layout: Layout): SettingProblem[] {
  try {
    checkIssuable(layout);
    return [];
  } catch (error) {
    if (!(error instanceof IdError)) throw error;
    return [
      { place: layoutFields === undefined ? "--layout" : "--layout-fields", cure: `${error.message} Put it below.` },
    ];
  }
}

function workerProblems({ datacenterId, datacenterIds, workerId }: WorkerConfig, layout: Layout): SettingProblem[] {
  const problems: SettingProblem[] = [];
  if (datacenterIds !== undefined && layout.datacenter.bits === 0) {
    const cure = `Leave it out, or choose a layout with datacenters: ${layout.name} has none.`;
    problems.push({ place: "--datacenter-ids", value: formatRanges(datacenterIds), cure });
  } else if (datacenterId !== undefined && datacenterIds?.includes(datacenterId) === false) {
    const cure = `Give one of --datacenter-ids ${formatRanges(datacenterIds)}.`;
    problems.push({ place: "--datacenter-id", value: String(datacenterId), cure });
  }
  const bounds = [
    ["--datacenter-ids", layout.datacenter.bits === 0 ? undefined : datacenterIds?.at(-1), layout.datacenter.max],
    ["--datacenter-id", datacenterId, layout.datacenter.max],
    ["--worker-id", workerId, layout.worker.max],
  ] as const;
  for (const [place, value, max] of bounds) {
    if (value === undefined || value <= max) continue;
    problems.push({ place, value: String(value), cure: `The layout ${layout.name} allows 0 to ${max}.` });
  }
  if (workerId !== undefined && datacenterId === undefined && layout.datacenter.bits > 0) {
    problems.push({
      place: "--datacenter-id",
      cure: "Give it with --worker-id: the layout counts workers within a datacenter.",
    });
  }
  return problems;
}

/** What is wrong with lengths of time that were both said. What hangs on the store's defaults shows at the start. */
function timingProblems(config: WorkerConfig, slackMs: number): SettingProblem[] {
  const { windowMs, windowMaxMs, renewalPeriodMs, ttlMs, storeUrl } = config;
  const problems: SettingProblem[] = [];
  if (windowMs !== undefined && renewalPeriodMs !== undefined && renewalPeriodMs * 2 > windowMs) {
    problems.push({ place: "--renewal-period", value: `${renewalPeriodMs}ms`, cure: "Give at most half of --window." });
  }
  if (windowMs !== undefined && windowMaxMs !== undefined && windowMaxMs < windowMs) {
    problems.push({ place: "--window-max", value: `${windowMaxMs}ms`, cure: "Give at least --window." });
  }
  if (ttlMs === undefined) return problems;
  const value = `${ttlMs}ms`;
  const ttlMinMs = (windowMs ?? 0) + slackMs;
  if (storeUrl === undefined || storeUrl.startsWith("sqlite:")) {
    problems.push({ place: "--ttl", value, cure: "Leave it out: with SQLite a lock tells who lives." });
  } else if (ttlMs < ttlMinMs) {
    problems.push({ place: "--ttl", value, cure: `Give at least ${ttlMinMs}ms: the window and ${slackMs}ms.` });
  }
  return problems;
}

/** One SQLite file in the user's state directory. */
function defaultStoreUrl(environment: Environment): string {
  return `sqlite:${join(stateFolder(environment), "snowlane.db")}`;
}

/** Ours in the user's state directory (XDG Base Directory Specification, which ignores a relative path). */
function stateFolder(environment: Environment): string {
  const stated = environment["XDG_STATE_HOME"];
  const home = environment["HOME"] ?? homedir();
  const folder = stated !== undefined && isAbsolute(stated) ? stated : join(home, ".local", "state");
  return join(folder, "snowlane");
}

/** Host name and port: which record was ours before a restart. */
export function defaultInstance({ port }: Pick<Address, "port">): string {
  return `${hostname()}:${port}`;
}
