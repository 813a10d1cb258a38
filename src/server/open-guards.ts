import type { Clock } from "../clock/clock.ts";
import { isLoopback } from "../config/address.ts";
import type { ServerConfig } from "../config/server-settings.ts";
import type { TraceSettings } from "../config/trace-settings.ts";
import type { CallGuard } from "./call/call-guard.ts";
import { Quotas } from "./guards/quotas.ts";
import type { WatchedPrincipals } from "./guards/watched-principals.ts";
import type { Log } from "./log.ts";
import type { Traces } from "./traces/open-traces.ts";

/** The settings by which calls are let in, bounded and traced, and where problems of that are logged. */
export interface GuardOptions {
  /** Its file of principals, its quotas and its limit of traced calls are read. */
  readonly config: ServerConfig;
  /** Undefined where no call is traced. */
  readonly traceSettings: TraceSettings | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** The guards of calls that the settings of a server ask for. Each is loaded only then. */
export interface ServerGuards {
  /** The callers that may call; undefined where everybody may. */
  readonly callers: WatchedPrincipals | undefined;
  /** The bounds of what callers may take. Comes after the guard of {@link callers}. */
  readonly quotas: CallGuard;
  /** Undefined where no call is traced. */
  readonly traces: Traces | undefined;
  /** Checks at once whether the file of principals has changed. */
  readonly look: () => void;
  /** Ends them after the last call. Never rejects. */
  readonly close: () => Promise<void>;
}

/** @throws IdError INVALID_CONFIG if the file of principals cannot be used. */
export async function openGuards(options: GuardOptions): Promise<ServerGuards> {
  const { principals } = options.config;
  const callers = principals === undefined ? undefined : await openPrincipals(principals, options);
  const traces = await openTraces(options);
  return {
    callers,
    quotas: new Quotas(options.config.networkStreamsMax),
    traces,
    look: () => callers?.look(),
    close: async () => {
      callers?.close();
      await traces?.close();
    },
  };
}

async function openTraces({ config, traceSettings, clock, log }: GuardOptions): Promise<Traces | undefined> {
  if (traceSettings === undefined) return undefined;
  const { openTraces } = await import("./traces/open-traces.ts");
  return openTraces({
    settings: traceSettings,
    callsPerSecond: config.traceCallsPerSecond,
    clock,
    onProblem: (cause) => log.warn("Traces are not sent", { cause }),
  });
}

async function openPrincipals(path: string, { config, clock, log }: GuardOptions): Promise<WatchedPrincipals> {
  const { watchPrincipals } = await import("./guards/watched-principals.ts");
  const isPlaintext = config.tlsCert === undefined && !isLoopback(config.listen.host);
  return watchPrincipals({
    path,
    clock,
    idsPerSecond: config.quotaIdsPerSecond,
    onChange: (principalCount) => log.info("The principals were read again", { path, principalCount }),
    onFirstToken: () => {
      if (!isPlaintext) return;
      log.warn("Tokens come over the network in plaintext: give --tls-cert, or let a proxy speak TLS");
    },
    onFault: (error) => log.error("The principals cannot be read; the earlier ones stay", { path, error }),
  });
}
