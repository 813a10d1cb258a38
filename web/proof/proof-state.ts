import { calmMs, type DroppedFault, isPossibleFor } from "../../test/simulation/shown/dropped-fault.ts";
import { faultsMax, inOrder, readRunLink, type ShownRun } from "../../test/simulation/shown/run-link.ts";
import type { SwitchedRule } from "../../test/simulation/shown/rule-names.ts";
import { shownRules } from "../../test/simulation/shown/shown-rules.ts";
import type { RunOutcome } from "./outcome.ts";

/** How fast a run is played, against its own time. */
export const speeds = [0.5, 1, 4] as const;

/** Why there is no outcome of a run. */
export type Problem =
  /** It took too long, and was ended. */
  | { readonly kind: "slow" }
  /** The script of the worker cannot be loaded. */
  | { readonly kind: "missing" }
  | { readonly kind: "failed"; readonly detail: string };

/** The state of the view. */
export interface ProofState {
  readonly run: ShownRun;
  /** Of the run that was shown last; it stays while the next one is computed. */
  readonly outcome: RunOutcome | undefined;
  readonly problem: Problem | undefined;
  /** Where in the run the reader is: milliseconds. */
  readonly atMs: number;
  readonly speed: (typeof speeds)[number];
  readonly play: "playing" | "paused";
  /** The process that the next fault is dropped on. */
  readonly target: number;
  readonly copied: "done" | "refused" | undefined;
}

/** Where the reader of a run without faults is at first: everybody serves, so a fault can be dropped in. */
const firstMs = 4_000;

/** The state of the view that a link opens. */
export function openLink(link: string): ProofState {
  const run = readRunLink(link);
  // A run in which something happens is shown whole.
  const atMs = run.faults.length === 0 ? firstMs : Number.POSITIVE_INFINITY;
  const outcome = undefined;
  return { run, outcome, problem: undefined, atMs, speed: 1, play: "paused", target: 0, copied: undefined };
}

/** Whether a fault can be dropped in where the reader is. */
export function canDrop({ run, atMs }: ProofState, what: DroppedFault["what"]): boolean {
  return isPossibleFor(run.store, what) && run.faults.length < faultsMax && atMs <= calmMs;
}

/** Drops a fault in where the reader is. */
export function drop(state: ProofState, what: DroppedFault["what"]): ProofState {
  if (!canDrop(state, what)) return state;
  const { run, atMs, target } = state;
  const fault = { what, atMs: Math.round(atMs), process: target };
  return { ...state, run: { ...run, faults: inOrder([...run.faults, fault]) } };
}

/** Takes one of the faults out again. */
export function remove(state: ProofState, fault: DroppedFault): ProofState {
  const { run } = state;
  return { ...state, run: { ...run, faults: run.faults.filter((other) => other !== fault) } };
}

/** Changes the store; faults that the other store cannot have go. */
export function chooseStore(state: ProofState, store: ShownRun["store"]): ProofState {
  const { run } = state;
  return { ...state, run: { ...run, store, faults: run.faults.filter(({ what }) => isPossibleFor(store, what)) } };
}

/** A run in which a rule that is away gives equal IDs. */
export function showRule(state: ProofState, rule: SwitchedRule, seed: number): ProofState {
  const { store, faults } = shownRules[rule];
  return { ...state, run: { seed, store, rule, faults }, atMs: Number.POSITIVE_INFINITY };
}
