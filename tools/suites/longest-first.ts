import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The files that take more than a minute, the longest first. */
export const longest = [
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

/**
 * Begins with the files that take longest, so that no suite ends with one processor waiting for one file. Vitest does
 * the same where it has run them before, and goes by their sizes on a fresh clone.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const index = longest.indexOf(relative("", moduleId));
      return index === -1 ? longest.length : index;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}
