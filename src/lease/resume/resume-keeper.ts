import type { ClockJudge } from "../../clock/clock-judge.ts";
import { IdError } from "../../errors.ts";
import type { Grant } from "../grant.ts";
import { checkAgreement } from "../layout-agreement.ts";
import { type RecalledGrant, type ResumeJournal, type ResumeRecord, recallGrant } from "./resume-record.ts";
import type { WorkerEvent } from "../worker-event.ts";
import { encodeLayoutRecord, type LayoutRecord } from "../records/layout-record.ts";
import type { WorkerSettings } from "../worker-settings.ts";

/** The journal of a {@link ResumeKeeper}, and what it needs to judge and move the marks in it. */
export interface ResumeKeeperParts {
  /** Keeps the resume records on this machine's disk. */
  readonly journal: ResumeJournal;
  /** The settings of the worker. A record of another instance, layout or namespace is not continued. */
  readonly settings: WorkerSettings;
  /** The wall clock that marks are compared with. */
  readonly judge: ClockJudge;
  /** The highest timestamp issued so far: Unix milliseconds. */
  readonly lastMs: () => number;
  /** Called when a grant may be used further: its local mark has moved. */
  readonly onAdvance: () => void;
  /** Called when a record could not be written. */
  readonly report: (event: WorkerEvent) => void;
}

/** The state of one grant's record. */
interface Kept {
  readonly grant: Grant;
  readonly layoutText: string;
  /** The mark that was durably written: timestamps below it may be issued. Infinity if there is certainly no record. */
  markMs: number;
}

/** A mark that is less than this ahead of use is moved; with a heartbeat of half a second it stays a second ahead. */
const moveBelowMs = 1_500;

/**
 * Keeps a resume record for each grant in use, with a mark that is always ahead of use.
 *
 * A disk that fails does not stop the issuing for long: if the record cannot be written but can be removed, the grant
 * goes on without one. If it cannot be removed either, nothing is issued beyond its mark. docs/adr/0067 explains why a
 * renewal is written down before it is sent.
 */
export class ResumeKeeper {
  readonly #parts: ResumeKeeperParts;
  readonly #kept = new Map<number, Kept>();
  /** The queue of writes, which run one after the other. */
  #work: Promise<void> = Promise.resolve();
  #isMoving = false;

  constructor(parts: ResumeKeeperParts) {
    this.#parts = parts;
  }

  /**
   * Finds the grant of an earlier life of this instance that may be continued now, and removes records that can never
   * be continued or are over. Records of other instances on this machine are left alone until they are over.
   */
  async recall(): Promise<RecalledGrant | undefined> {
    const { journal, judge, settings } = this.#parts;
    let best: RecalledGrant | undefined;
    const isAnothers = (record: ResumeRecord): boolean => {
      const instance = this.#judge(record)?.grant.record.holder.instance;
      return instance !== undefined && instance !== settings.holder.instance;
    };
    for (const record of await journal.recall(isAnothers)) {
      // The record may have changed before its lock was taken.
      if (isAnothers(record)) {
        journal.leave(record.workerIndex);
        continue;
      }
      const recalled = this.#judge(record);
      const isBetter = recalled !== undefined && recalled.grant.untilMs > (best?.grant.untilMs ?? judge.nowMs());
      if (isBetter && best !== undefined) await journal.remove(best.grant.workerIndex);
      if (isBetter) best = recalled;
      else await journal.remove(record.workerIndex);
    }
    return best;
  }

  /** Up to where the resume record allows timestamps to be issued under a grant: Unix milliseconds, exclusive. */
  limitMs(grant: Grant): number {
    return this.#kept.get(grant.workerIndex)?.markMs ?? Number.POSITIVE_INFINITY;
  }

  /** Writes the first record of a grant. Nothing may be issued under the grant before. */
  async begin(grant: Grant, layoutRecord: LayoutRecord): Promise<void> {
    const kept: Kept = { grant, layoutText: encodeLayoutRecord(layoutRecord), markMs: grant.fromMs };
    this.#kept.set(grant.workerIndex, kept);
    await this.#inTurn(() => this.#write(kept, this.#parts.judge.nowMs()));
  }

  /**
   * Writes the record again, in the background, if its mark has to move, or if what was confirmed has changed. Never
   * waits.
   */
  touch(grant: Grant, hasChanged: boolean): void {
    const kept = this.#kept.get(grant.workerIndex);
    if (kept === undefined || kept.markMs === Number.POSITIVE_INFINITY || this.#isMoving) return;
    if (!hasChanged && kept.markMs - this.#usedMs() >= moveBelowMs) return;
    this.#isMoving = true;
    void this.#inTurn(async () => {
      // The grant may have ended while this waited in the queue.
      if (this.#kept.get(grant.workerIndex) === kept) await this.#write(kept, this.#usedMs());
      this.#isMoving = false;
      this.#parts.onAdvance();
    });
  }

  /** Writes down what is about to be sent. Never throws: a record that cannot be written is given up. */
  async note(grant: Grant): Promise<void> {
    const kept = this.#kept.get(grant.workerIndex);
    if (kept === undefined) return;
    await this.#inTurn(async () => {
      if (this.#kept.get(grant.workerIndex) !== kept || kept.markMs === Number.POSITIVE_INFINITY) return;
      await this.#write(kept, this.#usedMs());
      this.#parts.onAdvance();
    });
  }

  /**
   * Removes the record of a grant that is over. Until it is removed, nothing new may be acquired, and nothing released.
   *
   * @throws IdError STORE_UNAVAILABLE if the record may still exist: try again.
   */
  async end(grant: Grant): Promise<void> {
    if (this.#kept.get(grant.workerIndex)?.grant !== grant) return;
    await this.#inTurn(async () => {
      try {
        await this.#parts.journal.remove(grant.workerIndex);
      } catch (cause) {
        throw journalError("removed", cause);
      }
      this.#kept.delete(grant.workerIndex);
    });
  }

  #judge(record: ResumeRecord): RecalledGrant | undefined {
    const { judge, settings } = this.#parts;
    const { first, count } = settings.range;
    try {
      const now = { wallMs: judge.nowMs(), monotonicMs: judge.monotonicMs() };
      const recalled = recallGrant(record, now);
      checkAgreement(recalled.layoutRecord, settings);
      const isOurs = record.workerIndex >= first && record.workerIndex < first + count;
      return isOurs && Math.max(record.localMarkMs, now.wallMs) < record.untilMs ? recalled : undefined;
    } catch (cause) {
      if (cause instanceof IdError) return undefined;
      throw cause;
    }
  }

  #usedMs(): number {
    return Math.max(this.#parts.judge.nowMs(), this.#parts.lastMs());
  }

  async #write(kept: Kept, usedMs: number): Promise<void> {
    const { journal, settings } = this.#parts;
    const { grant } = kept;
    const localMarkMs = Math.max(kept.markMs, usedMs + settings.leadMaxMs);
    try {
      await journal.write({
        place: journal.place,
        workerIndex: grant.workerIndex,
        confirmedText: grant.entry.text,
        unansweredTexts: [...grant.unanswered.values()].map(({ text }) => text),
        untilMs: grant.untilMs,
        localMarkMs,
        incarnation: grant.incarnation,
        layoutText: kept.layoutText,
      });
      // Only after the write: so what was issued is below the mark on disk, whenever the process crashes.
      kept.markMs = localMarkMs;
    } catch (cause) {
      await this.#giveUp(kept, cause);
    }
  }

  async #giveUp(kept: Kept, cause: unknown): Promise<void> {
    this.#parts.report({ kind: "store-problem", during: "resume record", error: journalError("written", cause) });
    try {
      await this.#parts.journal.remove(kept.grant.workerIndex);
      kept.markMs = Number.POSITIVE_INFINITY;
    } catch {
      // The record may exist, with the old mark or the new one: nothing is issued beyond the old mark, and the next
      // touch tries again.
    }
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#work.then(work);
    this.#work = done.catch(() => {});
    return done;
  }
}

function journalError(what: "written" | "removed", cause: unknown): IdError {
  const problem = cause instanceof Error ? cause.message : String(cause);
  const message = `The resume record cannot be ${what}: ${problem}.`;
  return new IdError("STORE_UNAVAILABLE", message, { cause, metadata: { problem } });
}
