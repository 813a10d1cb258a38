/** Rules of the evidence that a mutant leaves out of the processes, until it is put back. */
import { SequenceDatabase } from "../../src/sequence/sequence-database.ts";
import { TakeWitness } from "../../src/sequence/take-witness.ts";
import { ValueSource } from "../../src/sequence/value-source.ts";
import { WitnessKeeper } from "../../src/sequence/witness-keeper.ts";

/** What replaces a method; `own` is the method as it is. */
type Replace = (own: (...args: never[]) => unknown) => (this: never, ...args: never[]) => unknown;

interface Mutation {
  readonly of: { readonly prototype: object };
  readonly method: string;
  readonly replace: Replace;
}

const right = { kind: "right" } as const;

/** The mutants by their names. */
const evidenceMutants = {
  "no-look": { of: WitnessKeeper, method: "judge", replace: () => () => right },
  "no-line-of-looks": {
    of: SequenceDatabase,
    method: "acknowledge",
    replace: () => async () => {},
  },
  "absent-row-passes": {
    of: TakeWitness,
    method: "judge",
    replace: (own) =>
      function (this: never, ...args: readonly unknown[]) {
        return (args[1] as ReadonlyMap<number, string>).size === 0 ? right : Reflect.apply(own, this, args as never[]);
      },
  },
  "stock-stays-after-a-loss": { of: SequenceDatabase, method: "watch", replace: () => () => {} },
  "epoch-is-passed-over": { of: ValueSource, method: "refresh", replace: () => () => {} },
} as const satisfies Readonly<Record<string, Mutation>>;

export type EvidenceMutant = keyof typeof evidenceMutants;

/** Leaves a rule out. @returns Puts it back. */
export function leaveOut(name: EvidenceMutant): () => void {
  const { of, method, replace }: Mutation = evidenceMutants[name];
  const prototype = of.prototype as Record<string, (...args: never[]) => unknown>;
  const own = prototype[method]!;
  prototype[method] = replace(own);
  return () => {
    prototype[method] = own;
  };
}
