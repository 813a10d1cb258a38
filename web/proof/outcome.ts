import type { DroppedWhat } from "../../test/simulation/shown/dropped-fault.ts";

/** A time of a run: milliseconds of true time since it began. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** IDs that a process drew at once. */
export interface IssuedRun {
  readonly atMs: number;
  /** The place of the process, from 0. */
  readonly slot: number;
  readonly worker: number;
  readonly count: number;
  /** Whether some of them were issued twice. */
  readonly isEqual: boolean;
}

/** The row of a process: what it was when. */
export interface Lane {
  readonly grants: readonly (Span & { readonly worker: number; readonly count: number })[];
  readonly waits: readonly Span[];
  readonly stops: readonly (Span & { readonly what: "kill" | "pause" | "cut" })[];
}

/** A write that the store took: no ID of the worker may reach `untilMs` without another one. */
export interface Mark {
  readonly atMs: number;
  readonly worker: number;
  readonly untilMs: number;
}

/** A fault that the reader dropped in, when it happened: it waits for a process that holds a worker ID. */
export interface MetFault {
  readonly atMs: number;
  readonly what: DroppedWhat;
  readonly slot: number;
}

/** The first of the IDs that two processes, or two lives of one, have both issued. */
export interface EqualRuns {
  readonly one: { readonly atMs: number; readonly slot: number };
  readonly other: { readonly atMs: number; readonly slot: number };
  readonly firstId: bigint;
  readonly count: number;
}

/** Why a process gets no worker ID yet. */
export type WaitReason = "mark" | "quarantine" | "silence" | "free-worker-id";

/** A sentence of "What happened", before a language has put it into words. Times are those of {@link Span}. */
export type Happening = { readonly atMs: number } & (
  | { readonly kind: "fault"; readonly what: DroppedWhat; readonly slot: number }
  | { readonly kind: "clock"; readonly slot: number; readonly byMs: number }
  | { readonly kind: "started"; readonly slot: number }
  | { readonly kind: "marks-lost"; readonly workers: readonly number[] }
  | { readonly kind: "granted"; readonly slot: number; readonly worker: number }
  /** The grant under which IDs came twice. `markMs`: what the store had confirmed for the worker before. */
  | {
      readonly kind: "granted-below";
      readonly slot: number;
      readonly worker: number;
      readonly fromMs: number;
      readonly markMs: number;
    }
  | { readonly kind: "grant-ended"; readonly slot: number; readonly end: "lost" | "lapsed" | "regressed" }
  | { readonly kind: "waits"; readonly slot: number; readonly cause: WaitReason }
  | { readonly kind: "quarantine"; readonly slot: number; readonly untilMs: number }
  | { readonly kind: "equal"; readonly slot: number; readonly count: number; readonly firstAtMs: number }
  | { readonly kind: "healed" }
);

/** The IDs of a generator without a store, under the same faults. */
export interface SimpleOutcome {
  readonly issued: number;
  readonly equalCount: number;
  /** When the first ID came for the second time; undefined where none did. */
  readonly firstEqualMs: number | undefined;
}

/** The outcome of a run: all that the view shows. */
export interface RunOutcome {
  /** Of all that happened: one run, one hash, in whatever program it runs. */
  readonly hash: string;
  /** The promises that the checker of the simulation found broken. */
  readonly violations: readonly string[];
  /** Where the picture ends. */
  readonly endMs: number;
  readonly issued: number;
  readonly equalCount: number;
  /** The first ones; undefined where no two IDs are equal. */
  readonly equal: EqualRuns | undefined;
  readonly silence: { readonly fromMs: number; readonly lengthMs: number };
  readonly lanes: readonly Lane[];
  readonly runs: readonly IssuedRun[];
  readonly marks: readonly Mark[];
  readonly faults: readonly MetFault[];
  readonly story: readonly Happening[];
  readonly simple: SimpleOutcome;
}
