import type { Layout } from "../../src/snowflake/layout.ts";
import { decomposeId, msToTicksUp, ticksToMsDown } from "../../src/snowflake/layout.ts";
import type { IdRun } from "../../src/snowflake/run.ts";

/** A promise that was broken: which one (S1 to S8 of docs/safety.md, or L for liveness), and by what. */
export interface Violation {
  readonly promise: "S1" | "S2" | "S3" | "S5" | "S6" | "S7" | "S8" | "L";
  readonly detail: string;
}

/** What the copy of a process may repeat. */
export interface CloneAllowance {
  readonly names: readonly string[];
  /** The highest mark that was asked for, for each worker ID. */
  readonly bounds: readonly { readonly workerIndex: number; readonly hwmMs: number }[];
}

interface IssuedRun {
  /** Timestamp and sequence in one number: ticks * 2^sequence bits + sequence. */
  readonly first: number;
  readonly last: number;
  readonly holder: string;
  readonly order: number;
}

/**
 * All IDs that anyone issued, and what they must not be. It looks at IDs from outside and knows nothing of the
 * protocol's own checks.
 */
export class IssueHistory {
  readonly violations: Violation[] = [];
  issued = 0;
  readonly #layout: Layout;
  readonly #runs = new Map<number, IssuedRun[]>();
  readonly #lastOfHolder = new Map<string, bigint>();
  readonly #clones: CloneAllowance[] = [];
  #order = 0;

  constructor(layout: Layout) {
    this.#layout = layout;
  }

  /** Notes a run, and returns what its first and last ID say. S3 is checked as it comes: a holder's IDs rise. */
  add(run: IdRun, holder: string): { readonly workerIndex: number; readonly firstMs: number; readonly lastMs: number } {
    const lastId = run.firstId + BigInt(run.count - 1) * run.stride;
    const first = decomposeId(this.#layout, run.firstId);
    const last = decomposeId(this.#layout, lastId);
    const workerIndex = first.datacenterId * (this.#layout.worker.max + 1) + first.workerId;
    this.issued += run.count;
    this.#order += 1;
    const before = this.#lastOfHolder.get(`${holder} ${workerIndex}`);
    if (before !== undefined && run.firstId <= before) this.break("S3", `${holder}: ${run.firstId} after ${before}`);
    this.#lastOfHolder.set(`${holder} ${workerIndex}`, lastId);
    const runs = this.#runs.get(workerIndex) ?? [];
    this.#runs.set(workerIndex, runs);
    runs.push({ first: this.#rank(first), last: this.#rank(last), holder, order: this.#order });
    return {
      workerIndex,
      firstMs: ticksToMsDown(this.#layout, first.ticks),
      lastMs: ticksToMsDown(this.#layout, last.ticks),
    };
  }

  break(promise: Violation["promise"], detail: string): void {
    if (this.violations.length < 20) this.violations.push({ promise, detail });
  }

  /**
   * A process was copied: its two lives may share what lies below every mark that the original had asked for by then,
   * and nothing else.
   */
  allowClone(clone: CloneAllowance): void {
    this.#clones.push(clone);
  }

  /** S1: no ID twice. Sorts the runs of each worker ID and looks at neighbours. */
  checkUnique(): void {
    for (const [workerIndex, runs] of this.#runs) {
      runs.sort((one, other) => one.first - other.first || one.order - other.order);
      let highest: IssuedRun | undefined;
      for (const run of runs) {
        if (highest !== undefined && run.first <= highest.last && !this.#isAllowed(workerIndex, highest, run)) {
          const what = `worker ${workerIndex}: ${run.first} to ${Math.min(run.last, highest.last)}`;
          this.break("S1", `${what} issued by ${highest.holder} and by ${run.holder}`);
        }
        if (highest === undefined || run.last > highest.last) highest = run;
      }
    }
  }

  #isAllowed(workerIndex: number, one: IssuedRun, other: IssuedRun): boolean {
    const last = Math.min(one.last, other.last);
    return this.#clones.some(({ names, bounds }) => {
      if (one.holder === other.holder || !names.includes(one.holder) || !names.includes(other.holder)) return false;
      const bound = bounds.find((each) => each.workerIndex === workerIndex);
      return bound !== undefined && last < this.#rank({ ticks: msToTicksUp(this.#layout, bound.hwmMs), sequence: 0 });
    });
  }

  #rank({ ticks, sequence }: { readonly ticks: number; readonly sequence: number }): number {
    return ticks * (this.#layout.sequence.max + 1) + sequence;
  }
}
