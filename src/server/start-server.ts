import { type Clock, systemTimers } from "../clock/clock.ts";
import type { Address } from "../config/address.ts";
import { Networks } from "../config/networks.ts";
import type { ServerConfig } from "../config/server-settings.ts";
import { accessOf } from "../config/secret-file.ts";
import { defaultInstance, resolveSequenceStore, type WorkerChoice } from "../config/resolve-server.ts";
import type { TraceSettings } from "../config/trace-settings.ts";
import { IdError } from "../errors.ts";
import { Sequences } from "../sequence/sequences.ts";
import type { WorkerEvent } from "../lease/worker-event.ts";
import { version } from "../version.ts";
import { recordedPlace } from "../store/store-place.ts";
import type { IdSource } from "../worker/id-source.ts";
import { beginWorker, type StartingWorker } from "../worker/open-worker.ts";
import type { IssueLog } from "./issue-log.ts";
import { warnOfOtherStore } from "./past-claims.ts";
import { watchLayoutEnd } from "./layout-end.ts";
import { bindListener, type Listener } from "./listen/listener.ts";
import type { Log } from "./log.ts";
import { openGuards } from "./open-guards.ts";
import { fitConnections, readOpenFilesMax } from "./listen/open-files.ts";
import type { TlsFiles } from "./listen/tls.ts";
import type * as ServeCalls from "./serve-calls.ts";
import { logSequenceEvent } from "./sequence-log.ts";
import { logWorkerEvent } from "./worker-log.ts";

/** The settings that a server starts with, its worker, its clock and the signals around its life. */
export interface ServerOptions {
  /** All settings of the server, checked. */
  readonly config: ServerConfig;
  /** The options of the worker: its layout, its store, and the worker IDs that it may take. */
  readonly worker: WorkerChoice;
  /** Undefined where no call is traced. */
  readonly traceSettings: TraceSettings | undefined;
  readonly log: Log;
  readonly clock: Clock;
  /** Counts the log lines that could not be written. */
  readonly readLostLines: () => number;
  /** Called with a fault of ours. A broken invariant must end the process. */
  readonly onFault: (error: unknown) => void;
  /** Gives up the start. */
  readonly signal: AbortSignal;
  /**
   * Called once, before the start waits for a worker ID, with a function that checks at once whether the files of TLS
   * and of principals have changed.
   */
  readonly onReloadable?: (reload: () => void) => void;
}

/** A running server. */
export interface Server {
  readonly address: Address;
  /** Undefined where there is no listener for operators. */
  readonly adminAddress: Address | undefined;
  readonly source: IdSource;
  /**
   * Ends in order: says NOT_SERVING, takes no more calls, lets those in flight finish for at most the drain time, cuts
   * the rest, and gives the worker ID back. Never rejects.
   */
  readonly stop: () => Promise<void>;
}

/** How long a start retries with a file that cannot be used at the moment: it is locked, or its disk is full. */
const filePatienceMs = 10_000;
/** How long the store may take to take the worker ID back. After that the worker ID becomes free by its TTL. */
const releaseTimeoutMs = 3_000;
/** How long a take of values may take to answer before what is left of the other segments is given back. */
const giveBackTimeoutMs = 2_000;
/** How long a start waits for the databases of sequences, while IDs are served: afterwards a fault is a warning. */
const trialMs = 10_000;
/** The most connections a second that the listener for operators admits. */
const adminConnectionsPerSecond = 100;
/** How long calls that were ended may take to report that to their readers, and callers to close their connections. */
const farewellMs = 500;

/**
 * The longest that a start takes where nothing hinders it. Connections wait meanwhile: a client that balances its calls
 * sends them to other servers, so that a rolling restart fails no call.
 */
const shortStartMs = 5_000;

/**
 * Binds the port, and resolves when a worker ID is held. Where the start has to wait, calls are answered meanwhile:
 * health says NOT_SERVING, and calls for IDs are UNAVAILABLE. A shared port is bound last: otherwise the system would
 * give this server connections that another one can answer already.
 *
 * @throws IdError INVALID_CONFIG if the files of TLS or of principals cannot be used, and as the worker does; the
 * system's error if the address cannot be bound; the reason of `signal`.
 */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { config, clock, log, signal } = options;
  const startMs = clock.nowMs();
  let phase: "starting" | "serving" = "starting";
  const tls = tlsFilesOf(config);
  // The files are checked before the start waits for a worker ID.
  if (tls !== undefined) (await import("./listen/tls.ts")).readTlsContext(tls);
  const guards = await openGuards(options);
  warnOfReadableSecrets(options);
  const issueLog = config.issueLog === undefined ? undefined : await openIssueLog(config.issueLog);
  const { reusePort, drainTimeoutMs } = config;
  const { connectionsMax, adminConnectionsMax } = fitToOpenFiles(options);
  const bind = () => bindMain(options, connectionsMax);
  /** Resolves when it turns out that the start has to wait. */
  const waits = Promise.withResolvers<void>();
  let bound: Listener | undefined;
  let admin: Listener | undefined;
  let worker: StartingWorker | undefined;
  const looks = [guards.look];
  options.onReloadable?.(() => looks.forEach((look) => look()));
  let stop = async (): Promise<void> => {
    await Promise.all([bound?.close(0), admin?.close(0)]);
    await worker?.close(releaseTimeoutMs);
    issueLog?.close();
  };
  try {
    if (!reusePort) bound = await bind();
    admin = await bindAdmin(options, adminConnectionsMax);
    const beginning = beginServerWorker(options, bound?.address ?? config.listen, (event) => {
      logWorkerEvent(event, { log, storeUrl: options.worker.storeUrl, phase });
      if (hasToWait(event)) waits.resolve();
    });
    // The store is asked in this one turn. The rest is loaded while the store's thread starts and opens the file, which
    // is half of the time to the first ID.
    await Promise.race([beginning, new Promise(setImmediate)]);
    const [begun, { serveCalls }] = await Promise.all([beginning, loadServeCalls()]);
    worker = begun;
    if (reusePort) await begun.granted;
    const listener = (bound ??= await bind());
    const source = issueLog?.before(begun.source) ?? begun.source;
    const sequences = createSequences(options, listener.address, begun);
    const calls = serveCalls({ ...options, ...guards, tls, worker: begun, source, sequences, listener, startMs });
    looks.push(calls.look);
    admin?.accept(calls.admitAdmin);
    const stopCalls = () => stopServing({ listener, admin, calls, drainTimeoutMs, sequences, worker: begun, issueLog });
    stop = stopCalls;
    const cancel = systemTimers.after(shortStartMs, waits.resolve);
    await Promise.race([begun.granted, waits.promise]).finally(cancel);
    listener.accept(calls.admit);
    await begun.granted;
    await tryOut(sequences, options, begun);
    phase = "serving";
    warnOfOtherStore({ config, worker: begun, log });
    const endWatch = watchLayoutEnd({ layout: source.layout, clock, timers: systemTimers, log });
    return {
      address: listener.address,
      adminAddress: admin?.address,
      source,
      stop: async () => {
        endWatch();
        await stopCalls();
        await guards.close();
      },
    };
  } catch (error) {
    await stop();
    await guards.close();
    throw signal.aborted ? signal.reason : error;
  }
}

/** The objects that a stop ends, in the order of {@link Server.stop}. */
interface ServingParts {
  /** Stops first: no connection comes after it. */
  readonly listener: Listener;
  /** Undefined where operators have no listener of their own. */
  readonly admin: Listener | undefined;
  /** Drained, for `drainTimeoutMs`; calls that still run are then ended. */
  readonly calls: ReturnType<typeof ServeCalls.serveCalls>;
  /** How long calls may go on after the stop has begun, in milliseconds. 0: they end at once. */
  readonly drainTimeoutMs: number;
  /** Gives back what is left of its segments. Undefined where this server has no database for them. */
  readonly sequences: Sequences | undefined;
  /** Gives back its worker ID, after the last call. */
  readonly worker: StartingWorker;
  /** Undefined where no issued ID is logged. It ends last. */
  readonly issueLog: IssueLog | undefined;
}

async function stopServing({
  listener,
  admin,
  calls,
  drainTimeoutMs,
  sequences,
  worker,
  issueLog,
}: ServingParts): Promise<void> {
  await listener.stop();
  await withinTime(drainTimeoutMs, calls.drain());
  await withinTime(farewellMs, calls.endCalls());
  await Promise.all([listener.close(farewellMs), admin?.close(farewellMs)]);
  calls.close();
  await Promise.all([sequences?.close(giveBackTimeoutMs), worker.close(releaseTimeoutMs)]);
  issueLog?.close();
}

/** The sequences of the server, whose database the first call opens. */
function createSequences(
  { config, worker, clock, log }: ServerOptions,
  address: Address,
  starting: StartingWorker,
): Sequences | undefined {
  const storeUrls = resolveSequenceStore(config, worker.storeUrl);
  if (storeUrls === undefined) return undefined;
  return new Sequences({
    storeUrls,
    stripeCount: config.sequenceStripes,
    store: {
      namespace: worker.namespace,
      callTimeoutMs: config.sequenceStoreTimeoutMs,
      connectionCount: config.sequenceConnections,
    },
    bind: async (databaseId) => {
      const place = recordedPlace(...storeUrls);
      if (await starting.bindSequences({ databaseId, place }))
        log.info("The deployment keeps its sequences here", { place, databaseId });
    },
    waitMaxMs: config.waitMaxMs,
    namesMax: config.sequencesInMemory,
    clock,
    timers: systemTimers,
    onEvent: (event) => logSequenceEvent(log, event),
    server: config.instance ?? defaultInstance(address),
  });
}

function warnOfReadableSecrets({ config, log }: ServerOptions): void {
  for (const [setting, path] of secretFilesOf(config)) {
    if (accessOf(path).othersRead) log.warn("Every user of this machine may read a file of secrets", { setting, path });
  }
}

/**
 * Tries a database of sequences that was named, or that the deployment has noted: an operator should hear of its faults
 * before a caller does.
 *
 * @throws IdError INVALID_CONFIG: another database than that of the deployment is named, or some that do not fit
 * together. Everything else is a warning: IDs go on without values.
 */
async function tryOut(
  sequences: Sequences | undefined,
  { config, log, signal }: ServerOptions,
  worker: StartingWorker,
): Promise<void> {
  if (sequences === undefined || signal.aborted) return;
  const check = async (): Promise<void> => {
    if (config.sequenceStores === undefined && !(await worker.hasSequences())) return;
    await (await sequences.catalog()).check();
  };
  let isWaiting = true;
  let misfit: IdError | undefined;
  const trying = check().catch((error: unknown) => {
    const isMisfit = error instanceof IdError && error.metadata["setting"] === "sequenceStores";
    if (isMisfit && isWaiting) misfit = error;
    else log.warn("The database of sequences cannot be used", { error });
  });
  const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  await withinTime(trialMs, Promise.race([trying, aborted]));
  isWaiting = false;
  if (misfit !== undefined) throw misfit;
}

/** The files of a server that hold secrets, or their digests. */
function secretFilesOf({ principals, tlsKey, storeFile }: ServerConfig): readonly (readonly [string, string])[] {
  const files = [["principals", principals] as const, ["tlsKey", tlsKey] as const, ["storeFile", storeFile] as const];
  return files.flatMap(([setting, path]) => (path === undefined ? [] : [[setting, path] as const]));
}

/** Fits the most connections to the limit of open files, and says so where that is less than what was asked for. */
function fitToOpenFiles({ config, log }: ServerOptions): ReturnType<typeof fitConnections> {
  const openFilesMax = readOpenFilesMax();
  const fitted = fitConnections(config, openFilesMax);
  const { connectionsMax } = fitted;
  if (connectionsMax < config.connectionsMax) {
    const wanted = config.connectionsMax;
    log.warn("The limit of open files leaves room for fewer connections", { connectionsMax, wanted, openFilesMax });
  }
  return fitted;
}

/** Binds the listener for callers. */
function bindMain({ config, onFault }: ServerOptions, connectionsMax: number): Promise<Listener> {
  const { listen, reusePort, socketMode, connectionsPerSecond, proxyProtocol } = config;
  const proxies = proxyProtocol === undefined ? undefined : new Networks(proxyProtocol);
  return bindListener(listen, { reusePort, socketMode, connectionsMax, connectionsPerSecond, proxies, onFault });
}

/** Binds the listener for operators. */
async function bindAdmin({ config, onFault }: ServerOptions, connectionsMax: number): Promise<Listener | undefined> {
  if (config.adminListen === undefined) return undefined;
  return bindListener(config.adminListen, {
    connectionsMax,
    connectionsPerSecond: adminConnectionsPerSecond,
    onFault,
  });
}

/** Opens the store and begins to acquire a worker ID, for a server at this address. */
function beginServerWorker(
  { config, worker, signal }: ServerOptions,
  address: Address,
  onEvent: (event: WorkerEvent) => void,
): Promise<StartingWorker> {
  return beginWorker({
    ...worker,
    waitMaxMs: config.waitMaxMs,
    instance: config.instance ?? defaultInstance(address),
    version,
    startTimeoutMs: config.startTimeoutMs,
    workerIdPatienceMs: config.workerIdPatienceMs,
    // Waiting does not bring back a file of this machine; a server may come back.
    startPatienceMs: worker.storeUrl.startsWith("sqlite:") ? filePatienceMs : undefined,
    signal,
    onEvent,
  });
}

/** Loads all that is above the listener, and Node's HTTP client of 10,000 lines, which the first `Headers` loads. */
async function loadServeCalls(): Promise<typeof ServeCalls> {
  const serveCalls = await import("./serve-calls.ts");
  void globalThis.Headers;
  return serveCalls;
}

/** Whether the start has to wait for its first worker ID. */
function hasToWait(event: WorkerEvent): boolean {
  if (event.kind === "new-deployment") return event.untilMs !== undefined;
  return event.kind === "waiting" || event.kind === "store-problem";
}

/** Loads the issue log, which few servers have. */
async function openIssueLog(path: string): Promise<IssueLog> {
  return (await import("./issue-log.ts")).openIssueLog(path);
}

function tlsFilesOf({ tlsCert, tlsKey, tlsClientCa, tlsClientAuth }: ServerConfig): TlsFiles | undefined {
  if (tlsCert === undefined || tlsKey === undefined) return undefined;
  return { certPath: tlsCert, keyPath: tlsKey, clientCaPath: tlsClientCa, clientAuth: tlsClientAuth };
}

/** Resolves with `work`, or after `timeoutMs`. */
async function withinTime(timeoutMs: number, work: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeoutMs);
  await Promise.race([work, promise]);
  clearTimeout(timer);
}
