import type { Allowance } from "../../queue/allowance.ts";
import type { Clock } from "../../clock/clock.ts";
import type { Sequences } from "../../sequence/sequences.ts";
import type { IdSource } from "../../worker/id-source.ts";
import type { ConnectionsStatus } from "../http/connection-server.ts";
import type { Listener } from "../listen/listener.ts";
import type { CallMetrics } from "./call-metrics.ts";
import type { Lag } from "./event-loop-lag.ts";
import type { WorkerTally } from "./worker-tally.ts";

/** The parts of a server of which metrics tell. */
export interface MetricSources {
  readonly calls: CallMetrics;
  readonly source: IdSource;
  readonly workers: WorkerTally;
  /** Undefined where the server has no database for them. */
  readonly sequences: Pick<Sequences, "status"> | undefined;
  readonly listener: Pick<Listener, "connectionCount" | "refused">;
  readonly connections: () => ConnectionsStatus;
  /** Their names, and the IDs and values that each was handed out; undefined without a file of them. */
  readonly principals:
    | (() => ReadonlyMap<string, Pick<Allowance, "idsCount" | "refusedCount" | "idsPerSecond">>)
    | undefined;
  /** Undefined where no call is traced. */
  readonly traces: { readonly counts: () => { readonly traced: number; readonly untraced: number } } | undefined;
  /** Counts the log lines that could not be written. */
  readonly readLostLines: () => number;
  readonly lag: Lag;
  readonly clock: Clock;
}
