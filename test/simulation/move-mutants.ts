import type { Mutant } from "./mutant.ts";

const copyMarks = "src/operator/store-move/copy-marks.ts";
const openTarget = "src/operator/store-move/open-target.ts";
const abandonMove = "src/operator/store-move/abandon-move.ts";

/** Rules of a move between two stores: the histories of move-history.ts show each. */
export const moveMutants: readonly Mutant[] = [
  {
    name: "move-without-marks",
    caughtBySeed: 33,
    rule: "every mark is copied before the target is opened",
    world: "moves",
    file: copyMarks,
    find: "const records = listed.entries.filter(({ key }) => parseWorkerKey(key) !== undefined);",
    replace: "const records: Entry[] = [];",
  },
  {
    name: "move-abandoned-without-bar",
    caughtBySeed: 89,
    rule: "the target is barred before the source serves again",
    world: "moves",
    file: abandonMove,
    find: "await swapSlot(target, to.entry, encodeMoveRecord(barred));",
    replace: "",
  },
  {
    name: "move-abandoned-when-open",
    caughtBySeed: 23,
    rule: "a move is not taken back once the target is open",
    world: "moves",
    file: abandonMove,
    find: "if (moveId === undefined || !isOurs || !isBarrable) {",
    replace: "if (moveId === undefined) {",
  },
  {
    name: "move-abandoned-beside-closing",
    caughtBySeed: 110,
    rule: "the source's quarantine is replaced before it serves again, whatever stands there",
    world: "moves",
    file: abandonMove,
    find: "await swapRecord(source, recordKeys.quarantine,",
    replace: "if (isBarred) await swapRecord(source, recordKeys.quarantine,",
  },
  {
    name: "move-opens-what-was-barred",
    caughtBySeed: 124,
    rule: "a target that was barred is not opened by an operator that has not heard of it",
    world: "moves",
    file: openTarget,
    find: ' || slot.move.phase !== "arriving") {',
    replace: ") {",
  },
];
