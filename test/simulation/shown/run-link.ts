import {
  calmMs,
  calmProcesses,
  type DroppedFault,
  type DroppedWhat,
  droppedKinds,
  isPossibleFor,
  type ShownStore,
} from "./dropped-fault.ts";
import { type SwitchedRule, switchedRules } from "./rule-names.ts";

/** What decides a shown run: a link has all of it. */
export interface ShownRun {
  /** 1 to 999,999. */
  readonly seed: number;
  readonly store: ShownStore;
  /** The rule that is away; undefined = all of them hold. */
  readonly rule: SwitchedRule | undefined;
  /** At most {@link faultsMax}, by their times. */
  readonly faults: readonly DroppedFault[];
}

/** The most faults that a link carries. */
export const faultsMax = 12;
/** The highest seed that a link carries. */
export const seedMax = 999_999;

/** Writes a run for an address: `seed=22&store=server&rule=no-floor&f=wipe.4020.0,kill.4000.1`. */
export function writeRunLink({ seed, store, rule, faults }: ShownRun): string {
  const parts = [`seed=${seed}`, `store=${store}`];
  if (rule !== undefined) parts.push(`rule=${rule}`);
  const written = faults.map(({ what, atMs, process }) => `${what}.${atMs}.${process}`);
  if (written.length > 0) parts.push(`f=${written.join(",")}`);
  return parts.join("&");
}

/** Reads a link; what it does not say, or says wrongly, is as in the first run. */
export function readRunLink(link: string): ShownRun {
  const fields = new URLSearchParams(link);
  const seed = Number(fields.get("seed"));
  const store: ShownStore = fields.get("store") === "file" ? "file" : "server";
  const faults = (fields.get("f") ?? "").split(",").flatMap((text) => readFault(text));
  return {
    seed: Number.isInteger(seed) && seed >= 1 && seed <= seedMax ? seed : 1,
    store,
    rule: switchedRules.find((name) => name === fields.get("rule")),
    faults: inOrder(faults.filter(({ what }) => isPossibleFor(store, what)).slice(0, faultsMax)),
  };
}

/** Faults by their times; those of one time in the order in which they were dropped. */
export function inOrder(faults: readonly DroppedFault[]): readonly DroppedFault[] {
  return faults.toSorted((one, other) => one.atMs - other.atMs);
}

function readFault(text: string): readonly DroppedFault[] {
  const [, name = "", atText = "", processText = ""] = /^([a-z]+)\.(\d{1,5})\.(\d)$/.exec(text) ?? [];
  const what = Object.keys(droppedKinds).find((kind) => kind === name) as DroppedWhat | undefined;
  const [atMs, process] = [Number(atText), Number(processText)];
  return what !== undefined && atMs <= calmMs && process < calmProcesses ? [{ what, atMs, process }] : [];
}
