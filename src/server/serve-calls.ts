import type { Clock } from "../clock/clock.ts";
import { isLoopback } from "../config/address.ts";
import { Networks } from "../config/networks.ts";
import type { ServerConfig } from "../config/server-settings.ts";
import type { IdError } from "../errors.ts";
import { pastClaimsOf } from "./past-claims.ts";
import { createAdminService } from "../service/admin-service.ts";
import { createIdService } from "../service/id-service.ts";
import type { Sequences } from "../sequence/sequences.ts";
import { createSequenceService } from "../service/sequence-service.ts";
import type { ServerStatusParts } from "../service/server-status.ts";
import type { Service } from "../service/service.ts";
import { StatusSamples } from "../service/status-samples.ts";
import type { IdSource, ServingState } from "../worker/id-source.ts";
import type { Worker } from "../worker/open-worker.ts";
import { createApplication } from "./call/application.ts";
import type { CallGuard } from "./call/call-guard.ts";
import type { AnswerMetrics } from "./call/dispatch.ts";
import { textAnswer } from "./call/text-answer.ts";
import type { MetricsPage } from "./metrics/metrics-page.ts";
import { metricsAuthentication, serveAdmin } from "./serve-admin.ts";
import type { WatchedPrincipals } from "./guards/watched-principals.ts";
import { CallMetrics, readCallTotals } from "./metrics/call-metrics.ts";
import { WorkerTally } from "./metrics/worker-tally.ts";
import { sharedPortLine } from "./call/refusal-lines.ts";
import { shuttingDown } from "./call/call-errors.ts";
import { unreadyOnDrain } from "./call/probes.ts";
import { type ConnectionServer, type ConnectionsStatus, createConnectionServer } from "./http/connection-server.ts";
import type { ConnectionOptions } from "./http/http2-server.ts";
import { FaultReferences } from "./fault-references.ts";
import { HostCheck } from "./http/host-check.ts";
import { TrustedProxies } from "./http/trusted-proxies.ts";
import type { Listener } from "./listen/listener.ts";
import type { TlsFiles } from "./listen/tls.ts";
import type { Log } from "./log.ts";
import { RefusalLog } from "./refusal-log.ts";
import type { Traces } from "./traces/open-traces.ts";

/** Serves calls on connections that another part accepts. A drain begins with NOT_SERVING in health. */
export interface CallServer extends ConnectionServer {
  /** Takes over a fresh connection of the admin listener. */
  readonly admitAdmin: ConnectionServer["admit"];
  /** Ends the calls that are still in flight with SHUTTING_DOWN; resolves when they have ended. */
  readonly endCalls: () => Promise<void>;
}

/** The sources of IDs and values that a server answers calls from, the guards before them, and its listener. */
export interface CallServerOptions {
  /** All settings of the server, checked. */
  readonly config: ServerConfig;
  /** Certificates of the listener; undefined = plaintext. */
  readonly tls: TlsFiles | undefined;
  /** The worker ID that is held: GetInfo, ListWorkers and ClaimPast answer from it. */
  readonly worker: Pick<Worker, "deploymentFingerprint" | "storeBinding" | "listWorkers" | "claimPast">;
  /** The worker's source, or the issue log before it. */
  readonly source: IdSource;
  /** Undefined where this server has no database for them: their methods are then UNIMPLEMENTED. */
  readonly sequences: Sequences | undefined;
  /** The callers that may call; undefined where everybody may. */
  readonly callers: Pick<WatchedPrincipals, "guard" | "allowances"> | undefined;
  /** The bounds of what callers may take. */
  readonly quotas: CallGuard;
  /** Undefined where no call is traced. */
  readonly traces: Pick<Traces, "guard" | "counts"> | undefined;
  /** When the server was started: Unix milliseconds. */
  readonly startMs: number;
  /** Read for metrics and status: how many connections are open, and how many were refused. */
  readonly listener: Pick<Listener, "connectionCount" | "refused">;
  readonly clock: Clock;
  readonly log: Log;
  /** Counts the log lines that could not be written. */
  readonly readLostLines: () => number;
  /** Called with a fault of ours. */
  readonly onFault: (error: unknown) => void;
}

const samplePeriodMs = 1_000;

/** Makes the services, the application over them, and the connections that carry it. */
export function serveCalls(options: CallServerOptions): CallServer {
  const { config, source, callers, traces, clock, log } = options;
  const calls = config.metrics === "on" ? new CallMetrics(clock) : undefined;
  const drain = new AbortController();
  const shutdown = new AbortController();
  const reason = shuttingDown();
  const findUnready = unreadyOnDrain(drain.signal, () => problemOf(source.state));
  const sampling = sampleEachSecond(options, calls);
  const workers = new WorkerTally(() => options.worker.listWorkers(), options.clock);
  const adminService = createAdmin(options, { samples: sampling.samples, findUnready, workers });
  const refusals = config.logCalls === "refused" ? new RefusalLog(log) : undefined;
  const shared = {
    findUnready,
    drainSignal: drain.signal,
    shutdownSignal: shutdown.signal,
    onUnforeseen: reportFaults(options),
  };
  const metrics = calls && loadMetricsPage({ calls, refusals, workers }, options, () => connections.connections());
  // They have to see refusals, so they come before the guards that refuse.
  const watchers = [calls, refusals].filter((guard) => guard !== undefined);
  const application = createApplication({
    ...shared,
    services: createServices(options, adminService),
    guards: [traces?.guard, ...watchers, callers?.guard, options.quotas].filter((guard) => guard !== undefined),
    corsOrigins: config.corsOrigins,
    page: config.page,
    onTurn: calls && ((tookMs) => calls.onTurn(tookMs)),
    answerMetrics: metrics && mainMetrics(metrics, options),
  });
  const onRefusedHost = (address: string): void => {
    calls?.refuse("host");
    refusals?.refuseHost(address);
  };
  const settings = connectionSettings(options);
  const hostCheck = createHostCheck(config, onRefusedHost);
  const connections = createConnectionServer(application, { ...settings, hostCheck });
  const { adminListen } = config;
  const admin =
    adminListen &&
    serveAdmin({
      options,
      shared: { ...shared, answerMetrics: metrics?.(metricsAuthentication(options)) },
      service: adminService,
      watchers,
      connections: { ...settings, hostCheck: createHostCheck({ ...config, listen: adminListen }, onRefusedHost) },
    });
  return {
    ...connections,
    admitAdmin: (socket) => admin?.admit(socket),
    look: () => {
      connections.look();
      admin?.look();
    },
    drain: () => {
      drain.abort(reason);
      return connections.drain();
    },
    endCalls: async () => {
      shutdown.abort(reason);
      await Promise.all([connections.drain(), admin?.drain()]);
    },
    close: () => {
      sampling.end();
      connections.close();
      admin?.close();
    },
  };
}

/** Writes a fault of ours down, and gives the reference that its caller gets. */
function reportFaults({ log, onFault }: CallServerOptions): (error: unknown, method: string) => string {
  const faults = new FaultReferences(log);
  return (error, method) => {
    const reference = faults.refer(error, method);
    onFault(error);
    return reference;
  };
}

function connectionSettings({ config, tls, log, onFault }: CallServerOptions): Omit<ConnectionOptions, "hostCheck"> {
  const { stallTimeoutMs, drainTimeoutMs, connectionAgeMs, http2, http2Limits } = config;
  const limits = { stallTimeoutMs, drainTimeoutMs, connectionAgeMs, http2Limits };
  const trustedProxies = config.trustedProxies && new TrustedProxies(new Networks(config.trustedProxies));
  const onRefusedHandshake = ({ message, ...rest }: Error & { code?: string }, address: string): void =>
    log.debug("A TLS handshake was refused", { address, code: rest.code, cause: message });
  const onTlsChange = (): void => log.info("The TLS files were read again");
  const onTlsFault = (error: unknown): void =>
    log.error("The TLS files cannot be used; the earlier ones stay", { error });
  return { ...limits, trustedProxies, http2, tls, onFault, onTlsChange, onTlsFault, onRefusedHandshake };
}

/** Makes the answer of `/metrics` for the callers that a guard lets in; undefined: for everybody. */
type MetricsPageOf = (authentication: CallGuard | undefined) => AnswerMetrics;

/** The first scrape loads what the metrics need, once for both listeners. */
function loadMetricsPage(
  {
    calls,
    refusals,
    workers,
  }: { readonly calls: CallMetrics; readonly refusals: RefusalLog | undefined; readonly workers: WorkerTally },
  options: CallServerOptions,
  connections: () => ConnectionsStatus,
): MetricsPageOf {
  const { callers } = options;
  let page: Promise<MetricsPage> | undefined;
  const load = async (): Promise<MetricsPage> => {
    const { createMetricsPage } = await import("./metrics/metrics-page.ts");
    return createMetricsPage({
      ...options,
      calls,
      connections,
      principals: callers?.allowances,
      workers,
      onRefused: (call, reason) => {
        calls.refuseFor(reason);
        refusals?.refuse(call, reason);
      },
    });
  };
  return (authentication) => async (request) => {
    page ??= load().catch((error: unknown) => {
      // It could not be read at the moment, for example because no descriptor was free: the next scrape tries again.
      page = undefined;
      throw error;
    });
    return (await page)(request, authentication);
  };
}

/** On a shared port, a scrape reaches any one of its servers. */
function mainMetrics(metrics: MetricsPageOf, { config, callers }: CallServerOptions): AnswerMetrics {
  if (!config.reusePort) return metrics(callers?.guard);
  return async ({ method }) => textAnswer(404, method, sharedPortLine);
}

/** A server on loopback has no names, because only this machine reaches it. Elsewhere, it cannot know its names. */
function createHostCheck(
  { hosts, listen, corsOrigins }: ServerConfig,
  onRefused: (address: string) => void,
): HostCheck | undefined {
  if (hosts === "any") return undefined;
  const requests = hosts !== undefined || isLoopback(listen.host) ? "all" : "of pages";
  return new HostCheck({ requests, names: hosts ?? [], origins: corsOrigins, onRefused });
}

/** The objects that AdminService needs besides those of {@link CallServerOptions}. */
interface AdminParts extends Pick<ServerStatusParts, "samples" | "findUnready"> {
  /** Counts the worker IDs that no process ever held. */
  readonly workers: WorkerTally;
}

/** AdminService, which both listeners have. */
function createAdmin(options: CallServerOptions, { workers, ...own }: AdminParts): Service {
  const { worker, source, clock, startMs, listener } = options;
  const status = {
    ...own,
    source,
    clock,
    startMs,
    connectionCount: listener.connectionCount,
    neverHeldCount: () => workers.neverHeld(),
  };
  return createAdminService({ listWorkers: () => worker.listWorkers(), status, pastClaims: pastClaimsOf(options) });
}

/** Notes the samples of each second, until the end. */
function sampleEachSecond({ source, sequences, clock }: CallServerOptions, calls: CallMetrics | undefined) {
  const samples = new StatusSamples({ source, sequences, clock, readCalls: calls && (() => readCallTotals(calls)) });
  const timer = setInterval(() => samples.take(), samplePeriodMs).unref();
  return { samples, end: () => clearInterval(timer) };
}

function problemOf(state: ServingState): IdError | undefined {
  return state.kind === "serving" ? undefined : state.error;
}

/** The services of a server: a further one is a further element of this list. */
function createServices(
  { config, worker, source, sequences, clock }: CallServerOptions,
  admin: Service,
): readonly Service[] {
  const { namespace, rollbackPolicy, batchCountMax } = config;
  const fingerprintNow = () => worker.deploymentFingerprint;
  const bindingNow = () => worker.storeBinding;
  return [
    createIdService({ source, clock, namespace, rollbackPolicy, batchCountMax, fingerprintNow, bindingNow }),
    admin,
    ...(sequences === undefined ? [] : [createSequenceService({ sequences, clock, batchCountMax })]),
  ];
}
