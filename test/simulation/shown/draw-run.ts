import { SeededRandom } from "../seeded-random.ts";
import { calmMs, calmProcesses, type DroppedWhat, droppedKinds, isPossibleFor } from "./dropped-fault.ts";
import { inOrder, type ShownRun } from "./run-link.ts";

const whats = Object.keys(droppedKinds) as readonly DroppedWhat[];

/** Draws a run as a reader might drop it together: one to four faults, and all rules. */
export function drawRun(seed: number): ShownRun {
  const random = new SeededRandom(seed);
  const store = random.pick(["server", "server", "file"] as const);
  const faults = Array.from({ length: random.between(1, 4) }, () => ({
    what: random.pick(whats.filter((what) => isPossibleFor(store, what))),
    atMs: random.between(0, calmMs),
    process: random.between(0, calmProcesses - 1),
  }));
  return { seed, store, rule: undefined, faults: inOrder(faults) };
}
