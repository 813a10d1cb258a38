import type { FaultKind } from "../fault.ts";

/** The faults that a reader may drop into a run, by the words of a link. */
export const droppedKinds = {
  back: "clock-back-small",
  ahead: "clock-forward-small",
  pause: "pause-seen",
  kill: "crash",
  cut: "network-cut",
  wipe: "store-wipe",
  older: "store-goes-back",
  failover: "store-failover",
} as const satisfies Record<string, FaultKind>;

/** What a dropped fault is: one of the words of {@link droppedKinds}. */
export type DroppedWhat = keyof typeof droppedKinds;

/** A fault as a link writes it: what, when, and to which process. */
export interface DroppedFault {
  readonly what: DroppedWhat;
  /** True time: whole milliseconds since the run began, 0 to {@link calmMs}. */
  readonly atMs: number;
  /** 0 to {@link calmProcesses} - 1. A fault of the store waits for this process to hold a worker ID, as all do. */
  readonly process: number;
}

/** How long faults can be dropped in. */
export const calmMs = 11_000;
export const calmProcesses = 3;

/** How long a pause and a cut network last. */
export const lastingMs = 3_000;

/**
 * The store of a run. `server`: a store across the network that may lose what it confirmed, as Redis may. `file`: an
 * embedded store that loses nothing, has no clock of its own, and tells by locks which processes live, as SQLite does.
 */
export type ShownStore = "server" | "file";

/** The faults that a store cannot have. */
const impossible: Readonly<Record<ShownStore, readonly DroppedWhat[]>> = {
  server: [],
  file: ["cut", "wipe", "older", "failover"],
};

/** Whether a fault can happen to a store. */
export function isPossibleFor(store: ShownStore, what: DroppedWhat): boolean {
  return !impossible[store].includes(what);
}
