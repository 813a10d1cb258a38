import type { Clock } from "../clock.ts";
import type { Address } from "../config/address.ts";
import type { ServerConfig } from "../config/server-settings.ts";
import { defaultInstance, type WorkerChoice } from "../config/settle-server.ts";
import { version } from "../version.ts";
import type { IdSource } from "../worker/id-source.ts";
import { openWorker } from "../worker/open-worker.ts";
import type * as Answering from "./answering.ts";
import type { IssueLog } from "./issue-log.ts";
import { bindListener } from "./listener.ts";
import type { Log } from "./log.ts";
import type { TlsFiles } from "./tls.ts";
import { logWorkerEvent } from "./worker-log.ts";

/** What a server is made from. */
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

/** How long a start goes on trying with a file that cannot be used at the moment: locked, or on a full disk. */
const filePatienceMs = 10_000;
/** How long the store may take to take the worker ID back. It comes free by itself if that is not enough. */
const releaseTimeoutMs = 3_000;
/**
 * How long calls that were told to end may take to say so to their readers, and connections to be closed from the other
 * side.
 */
const farewellMs = 500;
/**
 * Binds the port, takes a worker ID, and begins to answer.
 *
 * @throws IdError INVALID_CONFIG if the TLS files cannot be used, and as the worker does; the system's error if the
 * address cannot be bound; the reason of `signal`.
 */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { config, clock, log, onFault, signal } = options;
  let phase: "starting" | "serving" = "starting";
  const tls = tlsFilesOf(config);
  // Before anybody waits for a worker ID.
  if (tls !== undefined) (await import("./tls.ts")).readTlsContext(tls);
  const issueLog = config.issueLog === undefined ? undefined : await openIssueLog(config.issueLog);
  const listener = await bindListener(config.listen, {
    ...config,
    onFault,
    onHeldBack: (network) =>
      log.warn("New connections from a network wait: callers there break rules of HTTP/2", { network }),
  });
  try {
    const opening = openWorker({
      ...options.worker,
      waitMaxMs: config.waitMaxMs,
      instance: config.instance ?? defaultInstance(listener.address),
      version,
      // A file of this machine does not come back by waiting; a server may.
      startPatienceMs: options.worker.storeUrl.startsWith("sqlite:") ? filePatienceMs : undefined,
      signal,
      onEvent: (event) => logWorkerEvent(log, event, phase),
    });
    // A turn, in which the store is asked; then the rest is loaded while its thread, which comes up beside, opens the
    // file: that is half of the time to the first ID.
    await Promise.race([opening, new Promise(setImmediate)]);
    const [worker, { createAnswering }] = await Promise.all([opening, loadAnswering()]);
    const { deploymentFingerprint } = worker;
    const source = issueLog?.before(worker.source) ?? worker.source;
    const answering = createAnswering({
      ...config,
      tls,
      guards: [],
      source,
      deploymentFingerprint,
      listWorkers: () => worker.listWorkers(),
      clock,
      log,
      onFault,
      onViolation: (remoteAddress) => listener.charge(remoteAddress),
    });
    listener.accept(answering.admit);
    phase = "serving";
    return {
      address: listener.address,
      source,
      stop: async () => {
        await listener.stop();
        await withinTime(config.drainTimeoutMs, answering.drain());
        await withinTime(farewellMs, answering.endCalls());
        await listener.close(farewellMs);
        answering.close();
        await worker.close(releaseTimeoutMs);
        issueLog?.close();
      },
    };
  } catch (error) {
    await listener.close(0);
    issueLog?.close();
    throw signal.aborted ? signal.reason : error;
  }
}

/** With what the first call needs: Node loads its HTTP client of 10,000 lines when somebody asks for `Headers`. */
async function loadAnswering(): Promise<typeof Answering> {
  const answering = await import("./answering.ts");
  void globalThis.Headers;
  return answering;
}

/** Loaded by those who ask for it alone. */
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
