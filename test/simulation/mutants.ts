import type { Mutant } from "./mutant.ts";
import { claimMutants } from "./claim-mutants.ts";
import { seedMutants } from "./seed-mutants.ts";
import { moveMutants } from "./move-mutants.ts";
import { testMutants } from "./test-mutants.ts";
import { valueMutants } from "./value-mutants.ts";

/** All of them. */
export const mutants: readonly Mutant[] = [
  ...seedMutants,
  ...moveMutants,
  ...testMutants,
  ...claimMutants,
  ...valueMutants,
];
