/**
 * Everything that can go wrong in a simulation. Each is counted, and counted again for each state of the holder that it
 * met.
 */
export const faultKinds = [
  "clock-back-small",
  "clock-back-large",
  "clock-forward-small",
  "clock-forward-large",
  "clock-drift",
  "clock-freeze",
  "leap-second",
  "pause-seen",
  "pause-unseen",
  "suspend",
  "crash",
  "restart",
  "rolling-restart",
  "clone",
  "network-cut",
  "network-slow",
  "network-loss",
  "network-duplicates",
  "store-outage",
  "store-freeze",
  "store-restart",
  "store-failover",
  "store-goes-back",
  "store-wipe",
  "store-split",
  "store-goes-back-unseen",
] as const;

/** What people do at their own time, in whatever state it meets a holder. */
const operatorActs = ["operator-release"] as const;

export type FaultKind = (typeof faultKinds)[number] | (typeof operatorActs)[number];

/** States in which a fault is to meet its target. */
export const holderStates = ["acquiring", "waiting", "holding", "rebasing", "releasing"] as const;

export type HolderState = (typeof holderStates)[number];

/** One fault of a plan. */
export interface Fault {
  readonly kind: FaultKind;
  /** True time, milliseconds since the start. */
  readonly atMs: number;
  /** Which process, by its place. */
  readonly target: number;
  /** The state that the target is brought into before, as far as that can be done. */
  readonly state: HolderState;
  /** From 0 to 1: how large, how long. */
  readonly size: number;
  /** How long it lasts, where the size is not to say it. */
  readonly lengthMs?: number | undefined;
  /** The first action of a process when it runs again: answer a call, or obey a signal to stop. */
  readonly wake?: "draw" | "stop" | undefined;
}
