import type { Clock } from "../clock/clock.ts";
import { isLoopback } from "../config/address.ts";
import type { ServerConfig } from "../config/server-settings.ts";
import { createAdminService } from "../service/admin-service.ts";
import { createIdService } from "../service/id-service.ts";
import type { Sequences } from "../sequence/sequences.ts";
import { createSequenceService } from "../service/sequence-service.ts";
import type { ServerStatusParts } from "../service/server-status.ts";
import type { Service } from "../service/service.ts";
import { StatusSamples } from "../service/status-samples.ts";
import type { IdSource } from "../worker/id-source.ts";
import type { Worker } from "../worker/open-worker.ts";
import { createApplication } from "./call/application.ts";
import type { CallGuard } from "./call/call-guard.ts";
import type { AnswerMetrics } from "./call/dispatch.ts";
import { textAnswer } from "./call/text-answer.ts";
import { CallMetrics } from "./metrics/call-metrics.ts";
import { readCallTotals } from "./metrics/call-totals.ts";
import { sharedPortLine } from "./call/refusal-lines.ts";
import { shuttingDown } from "./call/call-errors.ts";
import { unreadyOnDrain } from "./call/probes.ts";
import { type ConnectionServer, type ConnectionsStatus, createConnectionServer } from "./http/connection-server.ts";
import { HostCheck } from "./http/host-check.ts";
import type { Listener } from "./listen/listener.ts";
import type { TlsFiles } from "./listen/tls.ts";
import type { Log } from "./log.ts";

/** Serves calls on connections that another part accepts. A drain begins with NOT_SERVING in health. */
export interface CallServer extends ConnectionServer {
  /** Ends the calls that are still in flight with SHUTTING_DOWN; resolves when they have ended. */
  readonly endCalls: () => Promise<void>;
}

/** The parts of a server that its calls need. */
export interface CallServerOptions {
  readonly config: ServerConfig;
  readonly tls: TlsFiles | undefined;
  readonly worker: Pick<Worker, "deploymentFingerprint" | "listWorkers">;
  /** The worker's source, or the issue log before it. */
  readonly source: IdSource;
  /** Undefined where this server has no database for them: their methods are then UNIMPLEMENTED. */
  readonly sequences: Sequences | undefined;
  /** Knows the callers that may call; undefined where everybody may. */
  readonly authentication: CallGuard | undefined;
  /** When the server was started: Unix milliseconds. */
  readonly startMs: number;
  /** How many principals are in use; undefined without a file of them. */
  readonly principalCount: (() => number) | undefined;
  readonly listener: Pick<Listener, "connectionCount" | "refused">;
  readonly clock: Clock;
  readonly log: Log;
  /** Called with a fault of ours. */
  readonly onFault: (error: unknown) => void;
}

const samplePeriodMs = 1_000;

/** Makes the services, the application over them, and the connections that carry it. */
export function serveCalls(options: CallServerOptions): CallServer {
  const { config, tls, source, authentication, clock, log, onFault } = options;
  const { streamsMax, stallTimeoutMs, drainTimeoutMs, http2, http2Limits } = config;
  const calls = config.metrics === "on" ? new CallMetrics(clock) : undefined;
  const drain = new AbortController();
  const shutdown = new AbortController();
  const reason = shuttingDown();
  const findUnready = unreadyOnDrain(drain.signal, () =>
    source.state.kind === "serving" ? undefined : source.state.error,
  );
  const samples = new StatusSamples({ source, clock, readCalls: calls && (() => readCallTotals(calls)) });
  const sampling = setInterval(() => samples.take(), samplePeriodMs).unref();
  const application = createApplication({
    services: createServices(options, { samples, findUnready }),
    // Metrics first: refusals count, too.
    guards: [calls, authentication].filter((guard) => guard !== undefined),
    corsOrigins: config.corsOrigins,
    findUnready,
    page: config.page,
    onTurn: calls && ((tookMs) => calls.onTurn(tookMs)),
    answerMetrics: calls && metricsPage(calls, options, () => connections.connections()),
    drainSignal: drain.signal,
    shutdownSignal: shutdown.signal,
    onUnforeseen: (error, method) => {
      log.error("A call failed for a cause of ours", { method, error });
      onFault(error);
    },
  });
  const limits = { streamsMax, stallTimeoutMs, drainTimeoutMs, http2Limits };
  const onRefusedHandshake = ({ message, ...rest }: Error & { code?: string }, address: string): void =>
    log.debug("A TLS handshake was refused", { address, code: rest.code, cause: message });
  const hostCheck = createHostCheck(config, () => calls?.refuse("host"));
  const connections = createConnectionServer(application, {
    ...limits,
    http2,
    tls,
    hostCheck,
    onFault,
    onRefusedHandshake,
  });
  return {
    ...connections,
    drain: () => {
      drain.abort(reason);
      return connections.drain();
    },
    endCalls: () => {
      shutdown.abort(reason);
      return connections.drain();
    },
    close: () => {
      clearInterval(sampling);
      connections.close();
    },
  };
}

/** Answers `/metrics`. What it needs is loaded by the first scrape. */
function metricsPage(
  calls: CallMetrics,
  options: CallServerOptions,
  connections: () => ConnectionsStatus,
): AnswerMetrics {
  const { config, worker, authentication } = options;
  let page: Promise<AnswerMetrics> | undefined;
  return async (request) => {
    if (config.reusePort) return textAnswer(404, request.method, sharedPortLine);
    page ??= import("./metrics/metrics-page.ts").then(({ createMetricsPage }) =>
      createMetricsPage({ ...options, calls, connections, listWorkers: () => worker.listWorkers() }, authentication),
    );
    return (await page)(request);
  };
}

/** A server on loopback has no names, because only this machine reaches it. Elsewhere, it cannot know its names. */
function createHostCheck({ hosts, listen, corsOrigins }: ServerConfig, onRefused: () => void): HostCheck | undefined {
  if (hosts === "any") return undefined;
  const requests = hosts !== undefined || isLoopback(listen.host) ? "all" : "of pages";
  return new HostCheck({ requests, names: hosts ?? [], origins: corsOrigins, onRefused });
}

/** The services of a server: a further one is a further element of this list. */
function createServices(
  { config, worker, source, sequences, clock, startMs, listener }: CallServerOptions,
  own: Pick<ServerStatusParts, "samples" | "findUnready">,
): readonly Service[] {
  const { namespace, rollbackPolicy, batchCountMax } = config;
  const status = { ...own, source, clock, startMs, connectionCount: listener.connectionCount };
  const fingerprintNow = () => worker.deploymentFingerprint;
  return [
    createIdService({ source, clock, namespace, rollbackPolicy, batchCountMax, fingerprintNow }),
    createAdminService({ listWorkers: () => worker.listWorkers(), status }),
    ...(sequences === undefined ? [] : [createSequenceService({ sequences, clock, batchCountMax })]),
  ];
}
