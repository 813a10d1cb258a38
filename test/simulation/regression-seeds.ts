/**
 * Seeds that once showed a fault, and what they showed. The scenario of a seed changes when the plan of faults does;
 * then they are just seeds.
 */
export const regressionSeeds: readonly { readonly seed: number; readonly showed: string }[] = [
  { seed: 5, showed: "a renewal that was answered while the process stopped broke an invariant" },
  { seed: 142, showed: "starts that failed one after the other never watched a dead holder's record for long enough" },
  { seed: 502, showed: "a machine that was held unseen put the whole store under quarantine" },
  { seed: 5388, showed: "a late write into a store that went back to before its layout record kept everybody out" },
];
