import type { FaultTrial } from "./fault-trial.ts";

/** Something that goes wrong, and what must hold meanwhile. That no ID is issued twice must hold always. */
export interface Fault {
  /** In the tables, and as the name of its test. */
  readonly name: string;
  /** Stores that it can be injected into; `own`: it starts its own store. */
  readonly stores: "any" | "embedded" | "own";
  /** How often: in the tests, and by the command of full size. */
  readonly counts: { readonly pr: number; readonly full: number };
  /** At full size pieces of `counts.full` follow each other until this many minutes have passed. */
  readonly fullMinutes?: number;
  /** Deployments that share the count at full size, at once: more than one where waiting is most of it. */
  readonly lanes: number;
  /** Whether requests may fail. What a failed request is, the fault says when it starts its load. */
  readonly failures: "none" | "allowed";
  /** The longest time without an answer, where one is promised: in milliseconds, on a machine that has the time. */
  readonly gapMaxMs?: number;
  /** How many worker IDs the servers have between them, where it is fewer than the layout has. */
  readonly workerIdCount?: number;
  /**
   * What the row proves about uniqueness: the mutant of test/simulation/mutants.ts that it catches, in servers that go
   * without the rule. `availability`: the row shows that alone, because no rule of the protocol stands between this
   * fault and a repeated ID.
   */
  readonly catches: string;
  /** Injects it `count` times. Waits for what must come of it; throws where it does not come. */
  readonly inject: (trial: FaultTrial, count: number) => Promise<void>;
}
