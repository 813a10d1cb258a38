import type { Mutant } from "./mutant.ts";

const closeSource = "src/operator/store-move/close-source.ts";
const fenceSource = "src/operator/store-move/fence-source.ts";
const copyMarks = "src/operator/store-move/copy-marks.ts";
const moveStore = "src/operator/store-move/move-store.ts";
const openTarget = "src/operator/store-move/open-target.ts";
const abandonMove = "src/operator/store-move/abandon-move.ts";

/** Rules of a move between two stores: the histories of move-history.ts show each. */
export const moveMutants: readonly Mutant[] = [
  {
    name: "move-source-not-barred",
    caughtBySeed: 247,
    rule: "a quarantine without end bars the source, for the process that has read its layout record",
    world: "moves",
    file: closeSource,
    find: "    if (isBarred) return;",
    replace: "    return;",
  },
  {
    name: "move-without-fence",
    caughtBySeed: 383,
    rule: "the records of the dead are given back before their marks are copied",
    world: "moves",
    file: fenceSource,
    find: "if (taken.length === 0) return",
    replace: "if (taken.length >= 0) return",
  },
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
    name: "move-opens-early",
    caughtBySeed: 1,
    rule: "the target is opened when all marks stand",
    world: "moves",
    file: moveStore,
    find: '  report("copies the marks");',
    replace: '  await openTarget(parts, moveId, layout.deploymentId);\n  report("copies the marks");',
  },
  {
    name: "move-abandoned-without-bar",
    caughtBySeed: 1,
    rule: "the target is barred before the source serves again",
    world: "moves",
    file: abandonMove,
    find: "await swapSlot(target, to.entry, encodeMoveRecord(barred));",
    replace: "",
  },
  {
    name: "move-abandoned-when-open",
    caughtBySeed: 54,
    rule: "a move is not taken back once the target is open",
    world: "moves",
    file: abandonMove,
    find: "if (moveId === undefined || !isOurs || !isBarrable) {",
    replace: "if (moveId === undefined) {",
  },
  {
    name: "move-opens-what-was-barred",
    caughtBySeed: 1,
    rule: "a target that was barred is not opened by an operator that has not heard of it",
    world: "moves",
    file: openTarget,
    find: ' || slot.move.phase !== "arriving") {',
    replace: ") {",
  },
  {
    name: "move-opens-for-another",
    caughtBySeed: 1,
    rule: "a claim is opened by the move that made it alone",
    world: "moves",
    file: openTarget,
    find: "slot.move.moveId !== moveId || ",
    replace: "",
  },
];
