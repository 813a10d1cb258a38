import type { World } from "./world.ts";

/** What holds a client to one rule of docs/internals/client-contract.md, or to one part of it. */
export interface Case {
  /** `attempts 4`: a list of the page, and the number of the rule in it. */
  readonly rule: string;
  /** Tells the cases of a rule apart: words with hyphens. */
  readonly name: string;
  /** What holds. */
  readonly law: string;
  /** Whether a client that leaves it out does not conform. */
  readonly isNeeded: boolean;
  /** Whether no other case may run beside it, because it keeps a processor busy. Default: false. */
  readonly isAlone?: boolean;
  /** @throws BrokenRule where it does not hold. */
  run(world: World): Promise<void>;
}
