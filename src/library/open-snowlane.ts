import { hostname } from "node:os";
import { basename } from "node:path";
import { IdError } from "../errors.ts";
import { rollbackPolicies } from "../snowflake/rollback-policy.ts";
import { version as ownVersion } from "../version.ts";
import { type OpenWorkerOptions, openWorker } from "../worker/open-worker.ts";
import { checkOptions, lengthMs, oneOf, type OptionRule, text, whole, wholes, wholeRange } from "./check-options.ts";
import { chooseLayout, type LayoutChoice } from "./choose-layout.ts";
import { Snowlane } from "./snowlane.ts";

type OwnOptions = "storeUrl" | "whereNoFolder" | "ttlMs" | "namespace" | "layout" | "instance" | "version" | "clock";
type WorkerChoice = Omit<OpenWorkerOptions, OwnOptions>;

/**
 * The options of {@link openSnowlane}; each has a default. Lengths of time are milliseconds. docs/configuration.md
 * explains those that `snowlane serve` has as well.
 */
export interface SnowlaneOptions extends WorkerChoice {
  /**
   * The URL of the store that all processes share: `sqlite:PATH` on one machine, else `postgres://...`, `mysql://...`,
   * `redis://...`, `etcd://...`, `zookeeper://...`, `kubernetes://...`. Default: `SNOWLANE_STORE` of the environment.
   */
  readonly store?: string | undefined;
  /** The set of records in the store. Default: `default`. */
  readonly namespace?: string | undefined;
  /** Default: `twitter`. Every process of a namespace has the same one. */
  readonly layout?: LayoutChoice | undefined;
  /**
   * The name of this process, which stays the same over restarts; only its first 100 characters are used. Default: host
   * name and name of the script.
   */
  readonly instance?: string | undefined;
  /** The version of the program, shown beside the worker ID. Default: that of this package. */
  readonly version?: string | undefined;
}

/** How long a start retries while the store does not answer. A program must not wait for ever without an error. */
const startPatienceMsDefault = 30_000;

const anyNumber: OptionRule = { accepts: (value) => typeof value === "number", hint: "a number of milliseconds" };
const aSignal: OptionRule = { accepts: (value) => value instanceof AbortSignal, hint: "an AbortSignal" };
const rules: Readonly<Record<keyof SnowlaneOptions, OptionRule>> = {
  store: text,
  namespace: text,
  // chooseLayout checks it in detail.
  layout: { accepts: () => true, hint: "a layout" },
  instance: {
    // The records of claims of the past begin with this.
    accepts: (value) => text.accepts(value) && !String(value).startsWith("past "),
    hint: 'a string that is not empty, and does not begin with "past "',
  },
  version: text,
  rollbackPolicy: oneOf(rollbackPolicies),
  sequenceSpread: { accepts: (value) => typeof value === "boolean", hint: "true or false" },
  burstMs: lengthMs,
  datacenterId: whole,
  workerId: whole,
  datacenterIds: wholes,
  workerIds: wholeRange,
  // Their ranges depend on the store, so openWorker checks them.
  windowMs: anyNumber,
  windowMaxMs: anyNumber,
  renewalPeriodMs: anyNumber,
  startPatienceMs: lengthMs,
  startTimeoutMs: lengthMs,
  workerIdPatienceMs: lengthMs,
  waitMaxMs: lengthMs,
  storeTimeoutMs: lengthMs,
  resumeFolder: text,
  onEvent: { accepts: (value) => typeof value === "function", hint: "a function" },
  signal: aSignal,
};

/**
 * Acquires a worker ID from a store, and makes IDs under it in this process: no two processes that share the store ever
 * make the same ID.
 *
 * Resolves with the first grant. Retries for `startPatienceMs`, by default 30 s, while the store does not answer. The
 * process stays alive until `close`.
 *
 * @throws IdError (as a rejection) INVALID_CONFIG, INVALID_LAYOUT, LAYOUT_MISMATCH, NO_FREE_WORKER_ID,
 * CLOCK_BEFORE_EPOCH, TIMESTAMP_EXHAUSTED, STORE_UNAVAILABLE; the signal's reason.
 */
export async function openSnowlane(options: SnowlaneOptions = {}): Promise<Snowlane> {
  checkOptions(options, rules);
  const { store, namespace = "default", layout, instance = defaultInstance(), ...rest } = options;
  const { version = ownVersion, startPatienceMs = startPatienceMsDefault } = options;
  const named = { storeUrl: storeUrlOf(store), namespace, layout: chooseLayout(layout), instance, version };
  const worker = await openWorker({ ...rest, ...named, startPatienceMs });
  return new Snowlane(worker, namespace);
}

/** The URL of the store: the option, or SNOWLANE_STORE of the environment. @throws IdError INVALID_CONFIG. */
export function storeUrlOf(store: string | undefined): string {
  const storeUrl = store ?? process.env["SNOWLANE_STORE"] ?? "";
  if (storeUrl !== "") return storeUrl;
  const hint = "Name the store that all processes share; on one machine `sqlite:ids.db`";
  const message = `store: ${hint}. SNOWLANE_STORE in the environment names it as well.`;
  throw new IdError("INVALID_CONFIG", message, { metadata: { setting: "store" } });
}

function defaultInstance(): string {
  return `${hostname()}:${basename(process.argv[1] ?? "node")}`;
}
