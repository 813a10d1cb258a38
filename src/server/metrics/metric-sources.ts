import type { Allowance } from "../../queue/allowance.ts";
import type { Clock } from "../../clock/clock.ts";
import type { Sequences } from "../../sequence/sequences.ts";
import type { IdSource } from "../../worker/id-source.ts";
import type { ConnectionsStatus } from "../http/connection-server.ts";
import type { Listener } from "../listen/listener.ts";
import type { CallMetrics } from "./call-metrics.ts";
import type { Lag } from "./event-loop-lag.ts";
import type { WorkerTally } from "./worker-tally.ts";

/** The counters and states that a scrape of `/metrics` reads. Reading them changes nothing. */
export interface MetricSources {
  /** Calls by method and outcome, and how long they took. */
  readonly calls: CallMetrics;
  /** The worker ID: its state, its grant and its counters. */
  readonly source: IdSource;
  /** How many worker IDs of the namespace are in which state, at most a minute old. */
  readonly workers: WorkerTally;
  /** Undefined where the server has no database for them. */
  readonly sequences: Pick<Sequences, "status"> | undefined;
  /** How many connections are open, and how many were refused since the start. */
  readonly listener: Pick<Listener, "connectionCount" | "refused">;
  /** Gives the state of the HTTP/2 connections. */
  readonly connections: () => ConnectionsStatus;
  /**
   * Gives the names of the principals, and the counts of IDs and values that were handed out to each; undefined without
   * a file of principals.
   */
  readonly principals:
    | (() => ReadonlyMap<string, Pick<Allowance, "idsCount" | "refusedCount" | "idsPerSecond">>)
    | undefined;
  /** Undefined where no call is traced. */
  readonly traces: { readonly counts: () => { readonly traced: number; readonly untraced: number } } | undefined;
  /** Counts the log lines that could not be written. */
  readonly readLostLines: () => number;
  /** How late the event loop is. */
  readonly lag: Lag;
  readonly clock: Clock;
}
