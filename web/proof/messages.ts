import type { ShownRun } from "../../test/simulation/shown/run-link.ts";
import type { RunOutcome } from "./outcome.ts";

/** A question of the page to its worker. */
export interface RunRequest {
  /** Comes back with the answer. */
  readonly key: number;
  readonly run: ShownRun;
}

/** An answer of the worker; a failure is an error of the code that ran. */
export type RunAnswer =
  /** Once, when its script has been loaded. */
  | { readonly kind: "ready" }
  | { readonly kind: "outcome"; readonly key: number; readonly outcome: RunOutcome }
  | { readonly kind: "failure"; readonly key: number; readonly failure: string };
