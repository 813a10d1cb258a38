import type { IdError } from "../errors.ts";
import type { GrantWaitCause } from "../lease/worker-event.ts";

/** The state of a holder. */
export type HolderPhase =
  | { readonly kind: "idle" }
  /** There is no grant, because of `problem`. */
  | { readonly kind: "acquiring"; readonly problem: IdError | undefined }
  /** There is no grant, and the earliest possible one is at `untilMs` (Unix milliseconds). */
  | { readonly kind: "waiting"; readonly for: GrantWaitCause; readonly untilMs: number; readonly detail: string }
  | { readonly kind: "holding" }
  /** There is a grant, but its timestamps are too far ahead of the clock; another worker ID is looked for. */
  | { readonly kind: "rebasing"; readonly spare: "unknown" | "none" }
  | { readonly kind: "releasing" }
  | { readonly kind: "released" }
  /** The start failed permanently. */
  | { readonly kind: "failed"; readonly error: IdError };

/** Counts of what happened since the process started. Each only grows. */
export interface HolderCounters {
  acquired: number;
  renewed: number;
  ambiguous: number;
  lost: number;
  lapsed: number;
  rebased: number;
  pauses: number;
  quarantines: number;
  /** Claims of the past. */
  claims: number;
}

/** All zero. */
export function createHolderCounters(): HolderCounters {
  return {
    acquired: 0,
    renewed: 0,
    ambiguous: 0,
    lost: 0,
    lapsed: 0,
    rebased: 0,
    pauses: 0,
    quarantines: 0,
    claims: 0,
  };
}
