import type { ShownRun } from "../../test/simulation/shown/run-link.ts";

/** What the page asks its worker for. */
export interface RunRequest {
  /** Comes back with the answer. */
  readonly key: number;
  readonly run: ShownRun;
}

/** What the worker answers; a failure is an error of the code that ran. */
export type RunAnswer =
  | { readonly key: number; readonly outcome: RunOutcome }
  | { readonly key: number; readonly failure: string };

/** What came of a run. */
interface RunOutcome {
  /** Of all that happened: one run, one hash, in whatever program it runs. */
  readonly hash: string;
  /** The promises that the checker found broken. */
  readonly violations: readonly string[];
}
