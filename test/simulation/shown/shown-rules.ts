import type { DroppedFault, ShownStore } from "./dropped-fault.ts";
import type { SwitchedRule } from "./rule-names.ts";

/** A run in which a rule that is away gives equal IDs. */
export interface ShownRule {
  readonly store: ShownStore;
  readonly faults: readonly DroppedFault[];
  /** Seeds whose runs show it with these faults; most others do no harm. */
  readonly seeds: readonly number[];
}

/** For each rule, where its absence shows. */
export const shownRules: Readonly<Record<SwitchedRule, ShownRule>> = {
  "own-clock": {
    store: "file",
    faults: [
      { what: "back", atMs: 4_000, process: 0 },
      { what: "kill", atMs: 4_800, process: 0 },
    ],
    seeds: [1, 2, 3, 4],
  },
  "no-floor": {
    store: "server",
    faults: [{ what: "wipe", atMs: 4_000, process: 2 }],
    seeds: [11, 15, 18, 21],
  },
  "no-quarantine": {
    store: "server",
    faults: [
      { what: "kill", atMs: 3_900, process: 1 },
      { what: "kill", atMs: 3_900, process: 2 },
      { what: "wipe", atMs: 4_000, process: 0 },
    ],
    seeds: [9, 15, 21, 43],
  },
  "identity-is-trusted": {
    store: "server",
    faults: [
      { what: "failover", atMs: 2_000, process: 0 },
      { what: "kill", atMs: 5_000, process: 1 },
      { what: "older", atMs: 5_100, process: 2 },
    ],
    seeds: [1, 12, 21, 23],
  },
};
