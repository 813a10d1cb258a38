import { type Clock, systemTimers } from "../clock/clock.ts";
import type { Address } from "../config/address.ts";
import type { ServerConfig } from "../config/server-settings.ts";
import { defaultInstance, resolveSequenceStore, type WorkerChoice } from "../config/resolve-server.ts";
import { Sequences } from "../sequence/sequences.ts";
import { version } from "../version.ts";
import type { IdSource } from "../worker/id-source.ts";
import { openWorker, type Worker } from "../worker/open-worker.ts";
import type { IssueLog } from "./issue-log.ts";
import { watchLayoutEnd } from "./layout-end.ts";
import { bindListener } from "./listen/listener.ts";
import type { Log } from "./log.ts";
import type { TlsFiles } from "./listen/tls.ts";
import type * as ServeCalls from "./serve-calls.ts";
import { logSequenceEvent } from "./sequence-log.ts";
import { logWorkerEvent } from "./worker-log.ts";

/** The parts of a server. */
export interface ServerOptions {
  readonly config: ServerConfig;
  readonly worker: WorkerChoice;
  readonly log: Log;
  readonly clock: Clock;
  /** Called with a fault of ours. A broken invariant must end the process. */
  readonly onFault: (error: unknown) => void;
  /** Gives up the start. */
  readonly signal: AbortSignal;
}

/** A server that serves. */
export interface Server {
  readonly address: Address;
  readonly source: IdSource;
  /**
   * Ends in order: says NOT_SERVING, takes no more calls, lets those in flight finish for at most the drain time, cuts
   * the rest, and gives the worker ID back. Never rejects.
   */
  readonly stop: () => Promise<void>;
}

/** How long a start retries with a file that cannot be used at the moment: it is locked, or its disk is full. */
const filePatienceMs = 10_000;
/** How long the store may take to take the worker ID back. After that the worker ID comes free by its TTL. */
const releaseTimeoutMs = 3_000;
/** How long a take of values may take to answer before what is left of the others goes back. */
const giveBackTimeoutMs = 2_000;
/** How long calls that were told to end may take to tell their readers, and callers to close their connections. */
const farewellMs = 500;

/**
 * Binds the port, takes a worker ID, and begins to answer. A port that is shared is bound last: the system would give
 * this server connections that another one can answer already.
 *
 * @throws IdError INVALID_CONFIG if the TLS files cannot be used, and as the worker does; the system's error if the
 * address cannot be bound; the reason of `signal`.
 */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { config, clock, log, onFault, signal } = options;
  let phase: "starting" | "serving" = "starting";
  const tls = tlsFilesOf(config);
  // Before the start waits for a worker ID.
  if (tls !== undefined) (await import("./listen/tls.ts")).readTlsContext(tls);
  const issueLog = config.issueLog === undefined ? undefined : await openIssueLog(config.issueLog);
  const { reusePort, connectionsMax, connectionsPerSecond } = config;
  const bind = () => bindListener(config.listen, { reusePort, connectionsMax, connectionsPerSecond, onFault });
  let bound = reusePort ? undefined : await bind();
  let opened: Worker | undefined;
  try {
    const opening = openServerWorker(options, bound?.address ?? config.listen, () => phase);
    // One turn, in which the store is asked. The rest is loaded while the store's thread starts and opens the file:
    // that is half of the time to the first ID.
    await Promise.race([opening, new Promise(setImmediate)]);
    const [worker, { serveCalls }] = await Promise.all([opening, loadServeCalls()]);
    opened = worker;
    bound ??= await bind();
    const listener = bound;
    const source = issueLog?.before(worker.source) ?? worker.source;
    const sequences = createSequences(options);
    const calls = serveCalls({ config, tls, worker, source, sequences, clock, log, onFault });
    listener.accept(calls.admit);
    phase = "serving";
    if (config.sequenceStores !== undefined) void tryOut(sequences, log);
    const endWatch = watchLayoutEnd({ layout: source.layout, clock, timers: systemTimers, log });
    return {
      address: listener.address,
      source,
      stop: async () => {
        endWatch();
        await listener.stop();
        await withinTime(config.drainTimeoutMs, calls.drain());
        await withinTime(farewellMs, calls.endCalls());
        await listener.close(farewellMs);
        calls.close();
        await Promise.all([sequences?.close(giveBackTimeoutMs), worker.close(releaseTimeoutMs)]);
        issueLog?.close();
      },
    };
  } catch (error) {
    await bound?.close(0);
    await opened?.close(releaseTimeoutMs);
    issueLog?.close();
    throw signal.aborted ? signal.reason : error;
  }
}

/** The sequences of the server, whose database the first call opens. */
function createSequences({ config, worker, clock, log }: ServerOptions): Sequences | undefined {
  const storeUrl = resolveSequenceStore(config, worker.storeUrl);
  if (storeUrl === undefined) return undefined;
  return new Sequences({
    storeUrl,
    store: {
      namespace: worker.namespace,
      callTimeoutMs: config.sequenceStoreTimeoutMs,
      connectionCount: config.sequenceConnections,
    },
    waitMaxMs: config.waitMaxMs,
    namesMax: config.sequencesInMemory,
    clock,
    timers: systemTimers,
    onEvent: (event) => logSequenceEvent(log, event),
  });
}

/** Tries a database of sequences that was named: an operator should hear of its faults before a caller does. */
async function tryOut(sequences: Sequences | undefined, log: Log): Promise<void> {
  try {
    await (await sequences?.catalog())?.check();
  } catch (error) {
    log.warn("The database of sequences cannot be used", { error });
  }
}

/** Opens the store and acquires a worker ID, for a server at this address. */
function openServerWorker(
  { config, worker, log, signal }: ServerOptions,
  address: Address,
  phaseNow: () => "starting" | "serving",
): Promise<Worker> {
  return openWorker({
    ...worker,
    waitMaxMs: config.waitMaxMs,
    instance: config.instance ?? defaultInstance(address),
    version,
    // Waiting does not bring back a file of this machine; a server may come back.
    startPatienceMs: worker.storeUrl.startsWith("sqlite:") ? filePatienceMs : undefined,
    signal,
    onEvent: (event) => logWorkerEvent(log, event, phaseNow()),
  });
}

/** Loads all that is above the listener, and Node's HTTP client of 10,000 lines, which the first `Headers` loads. */
async function loadServeCalls(): Promise<typeof ServeCalls> {
  const serveCalls = await import("./serve-calls.ts");
  void globalThis.Headers;
  return serveCalls;
}

/** Loads the issue log, which few servers have. */
async function openIssueLog(path: string): Promise<IssueLog> {
  return (await import("./issue-log.ts")).openIssueLog(path);
}

function tlsFilesOf({ tlsCert, tlsKey, tlsClientCa }: ServerConfig): TlsFiles | undefined {
  if (tlsCert === undefined || tlsKey === undefined) return undefined;
  return { certPath: tlsCert, keyPath: tlsKey, clientCaPath: tlsClientCa };
}

/** Resolves with `work`, or after `timeoutMs`. */
async function withinTime(timeoutMs: number, work: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeoutMs);
  await Promise.race([work, promise]);
  clearTimeout(timer);
}
