import type { Layout } from "../../src/snowflake/layout.ts";
import { decomposeId, msToTicksUp, ticksToMsDown } from "../../src/snowflake/layout.ts";
import type { RollbackRule } from "../../src/snowflake/rollback-policy.ts";
import type { IdRun } from "../../src/snowflake/run.ts";

/** A promise that was broken: which one (S1 to S8, M and P of docs/evidence.md, or L for liveness), and by what. */
export interface Violation {
  readonly promise: "S1" | "S2" | "S3" | "S4" | "S5" | "S6" | "S7" | "S8" | "M" | "P" | "L";
  readonly detail: string;
}

/** The IDs that the copy of a process may repeat. */
export interface CloneAllowance {
  readonly names: string[];
  /** Marks that were asked for, or noted to be. */
  readonly bounds: readonly { readonly workerIndex: number; readonly markMs: number }[];
}

/** The IDs that may be repeated because the store lost records, and did not show it. */
export interface LossAllowance {
  /** The mark of each lost worker record. */
  readonly bounds: readonly { readonly workerIndex: number; readonly markMs: number }[];
  /** Grants after this one, by their place, may repeat what was granted before, */
  readonly fromGrant: number;
  /** up to this one: later ones begin above a mark. */
  untilGrant: number;
}

/** The process that issued a run, and its grant. */
export interface Issuer {
  readonly name: string;
  /** The grant's place among all grants, as the store took them. */
  readonly grant: number;
  /** Two copies of one process go on under it: only S1 holds between their lives, within its allowance. */
  readonly isShared: boolean;
}

interface IssuedRun {
  /** Timestamp and sequence in one number: ticks * 2^sequence bits + sequence. */
  readonly first: number;
  readonly last: number;
  readonly holder: string;
  readonly grant: number;
  readonly order: number;
}

/** The range from the first to the last ID of a grant. */
interface GrantSpan {
  first: number;
  last: number;
  readonly holder: string;
  readonly isShared: boolean;
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
  /** For each worker ID, its grants in the order in which the store took them. */
  readonly #grants = new Map<number, Map<number, GrantSpan>>();
  readonly #clones: CloneAllowance[] = [];
  readonly #losses: LossAllowance[] = [];
  readonly #sequenceCount: number;
  readonly #idOrder: RollbackRule["order"];
  #order = 0;

  /** @param idOrder - Whether one holder's IDs must rise. */
  constructor(layout: Layout, idOrder: RollbackRule["order"] = "rising") {
    this.#layout = layout;
    this.#idOrder = idOrder;
    this.#sequenceCount = layout.sequence.max + 1;
  }

  /** The worker index that an ID names. */
  workerIndex(id: bigint): number {
    const { datacenterId, workerId } = decomposeId(this.#layout, id);
    return datacenterId * (this.#layout.worker.max + 1) + workerId;
  }

  /** Notes a run; all of it lies in one tick. Returns that tick's time: Unix milliseconds. */
  add(run: IdRun, issuer: Issuer): number {
    const { ticks, sequence } = decomposeId(this.#layout, run.firstId);
    const workerIndex = this.workerIndex(run.firstId);
    this.issued += run.count;
    this.#order += 1;
    const first = ticks * this.#sequenceCount + sequence;
    const last = first + run.count - 1;
    if (sequence + run.count > this.#sequenceCount) this.break("S3", `${issuer.name}: a run leaves its tick`);
    const runs = this.#runs.get(workerIndex) ?? [];
    this.#runs.set(workerIndex, runs);
    runs.push({ first, last, holder: issuer.name, grant: issuer.grant, order: this.#order });
    this.#addToGrant(workerIndex, issuer, first, last);
    return ticksToMsDown(this.#layout, ticks);
  }

  break(promise: Violation["promise"], detail: string): void {
    if (this.violations.length < 20) this.violations.push({ promise, detail });
  }

  /**
   * A process was copied: what lies below every mark that the original had asked for by then may be issued twice, and
   * nothing else.
   */
  allowClone(clone: CloneAllowance): void {
    this.#clones.push(clone);
  }

  /** A process goes on with the life of a copy. */
  allowSuccessor(copy: string, successor: string): void {
    for (const { names } of this.#clones) if (names.includes(copy)) names.push(successor);
  }

  /** The store lost records and did not show it. */
  allowLoss(loss: LossAllowance): void {
    this.#losses.push(loss);
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

  /** S3, its second half: for one worker ID each grant's IDs are above those of the grants before. */
  checkGrants(): void {
    for (const [workerIndex, spans] of this.#grants) {
      let highest: GrantSpan | undefined;
      for (const [grant, span] of [...spans].toSorted(([one], [other]) => one - other)) {
        if (span.isShared) continue;
        const isExcused = this.#losses.some((loss) => isAfter(loss, grant));
        if (highest !== undefined && span.first <= highest.last && !isExcused) {
          const what = `worker ${workerIndex}: ${span.first} by ${span.holder}`;
          this.break("S3", `${what} is not above ${highest.last} by ${highest.holder}, whose grant came before`);
        }
        if (highest === undefined || span.last > highest.last) highest = span;
      }
    }
  }

  /** S3, its first half: under one grant IDs rise, also over a restart that goes on under it. */
  #addToGrant(workerIndex: number, { grant, name, isShared }: Issuer, first: number, last: number): void {
    const grants = this.#grants.get(workerIndex) ?? new Map<number, GrantSpan>();
    this.#grants.set(workerIndex, grants);
    const span = grants.get(grant);
    if (span === undefined || span.isShared !== isShared) {
      grants.set(grant, { first: span?.first ?? first, last, holder: name, isShared });
      return;
    }
    const mustRise = this.#idOrder === "rising" && !isShared;
    if (first <= span.last && mustRise) this.break("S3", `${name}: ${first} after ${span.last} by ${span.holder}`);
    span.first = Math.min(span.first, first);
    span.last = Math.max(span.last, last);
  }

  #isAllowed(workerIndex: number, one: IssuedRun, other: IssuedRun): boolean {
    const last = Math.min(one.last, other.last);
    const isBelow = ({ bounds }: Pick<LossAllowance, "bounds">): boolean => {
      const marksMs = bounds.filter((each) => each.workerIndex === workerIndex).map(({ markMs }) => markMs);
      return marksMs.length > 0 && last < msToTicksUp(this.#layout, Math.max(...marksMs)) * this.#sequenceCount;
    };
    const later = Math.max(one.grant, other.grant);
    if (this.#losses.some((loss) => isAfter(loss, later) && isBelow(loss))) return true;
    return this.#clones.some((clone) => {
      const { names } = clone;
      if (one.holder === other.holder || !(names.includes(one.holder) || names.includes(other.holder))) return false;
      return isBelow(clone);
    });
  }
}

/** Whether a grant came after the loss, and before a mark was written. */
function isAfter({ fromGrant, untilGrant }: LossAllowance, grant: number): boolean {
  return grant > fromGrant && grant <= untilGrant;
}
