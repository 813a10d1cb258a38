/** The histories that a seed draws: those of the simulation, or those of move-history.ts. */
export type World = "one store" | "moves";

/**
 * A protocol with one rule removed: a change to the text of one source file, made while it is loaded. The source itself
 * stays as it is.
 */
export interface Mutant {
  readonly name: string;
  /** The rule that is gone. */
  readonly rule: string;
  /** From the root of the repository. */
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /**
   * A seed, of 1 to 10,000, in whose history the checker sees that the rule is gone; `npm run simulate -- --mutants`
   * finds one again. undefined = none is known: see {@link Mutant.heldBy}.
   */
  readonly caughtBySeed: number | undefined;
  /** `moves`: of the histories in which a namespace moves; absent = of the simulation. */
  readonly world?: World;
  /** Where the simulation does not show the rule: a test of the sources that fails without it. */
  readonly heldBy?: { readonly file: string; readonly test: string };
}

/**
 * The text of a mutant's file without the rule.
 *
 * @throws Error if what is to be replaced does not occur there exactly once.
 */
export function patched(text: string, { file, find, replace }: Pick<Mutant, "file" | "find" | "replace">): string {
  const pieces = text.split(find);
  if (pieces.length !== 2) throw new Error(`"${find}" occurs ${pieces.length - 1} times in ${file}.`);
  return pieces.join(replace);
}
