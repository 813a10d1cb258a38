import type { Mutant } from "./mutant.ts";

const sequenceDatabase = "src/sequence/sequence-database.ts";

/** Rules of sequences that no history shows, because others show the same a moment later. */
export const valueMutants: readonly Mutant[] = [
  {
    name: "take-survives-opening",
    caughtBySeed: undefined,
    rule: "a take that is on its way while the database is raised by nothing and opened gives nothing",
    file: sequenceDatabase,
    find: "if (turn !== this.#turn) throw overtaken();",
    replace: "",
    heldBy: {
      file: "src/sequence/sequence-database.test.ts",
      test: "gives no take that was on its way while it was stopped, raised by nothing and opened",
    },
  },
  {
    name: "take-below-mark",
    caughtBySeed: undefined,
    rule: "a take that begins below what this process took before is a loss, whatever the witness says",
    file: sequenceDatabase,
    find: "if (mark !== undefined && firstIndex < mark) {",
    replace: "if (mark !== undefined && firstIndex < 0n) {",
    heldBy: {
      file: "src/sequence/sequence-database.test.ts",
      test: "gives nothing that it has taken before, although the database gave it again under its own witness",
    },
  },
  {
    name: "period-never-goes-back",
    caughtBySeed: undefined,
    rule: "the period follows the clock back, too, so that a clock that was ahead leaves no value in the next year",
    file: "src/sequence/value-source.ts",
    find: "if (key === this.#stock.key) return;",
    replace: "if (key <= this.#stock.key) return;",
    heldBy: {
      file: "src/sequence/value-sources.test.ts",
      test: "a clock that goes back goes on counting where the earlier period was, and comes back to the later one",
    },
  },
];
