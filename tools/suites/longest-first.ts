import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The files that take more than a minute, the longest first. */
const longest = [
  "test/interop/interop.test.ts",
  "test/stores/sequence-losses.test.ts",
  "test/stores/holders.test.ts",
  "test/fault/faults.test.ts",
  "test/clients/conformance.test.ts",
  "test/stores/sequence-trial.test.ts",
  "test/simulation/mutants.test.ts",
  "test/stores/store-faults.test.ts",
  "test/stores/sequence-faults.test.ts",
  "test/model/model.test.ts",
];

const rank = new Map(longest.map((file, index) => [file, index]));

/**
 * Begins with the files that take longest, so that no suite ends with one processor waiting for one file. Vitest does
 * the same where it has run them before, and goes by their sizes on a fresh clone.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- It is vitest's own, which returns a new list.
    const sorted = await super.sort(files);
    const ranked = sorted.map((file) => ({ file, rank: rank.get(relative("", file.moduleId)) ?? longest.length }));
    return ranked.toSorted((a, b) => a.rank - b.rank).map(({ file }) => file);
  }
}
