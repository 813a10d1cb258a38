import type { Entry, ListAnswer, ReadAnswer, StoreMoment, WriteAnswer } from "../../src/store/record-store.ts";
import { recordKeys } from "../../src/lease/records/record-text.ts";
import { parseWorkerKey } from "../../src/lease/records/worker-record.ts";

/**
 * The moments for which the protocol has its rules. A simulation that seldom meets them proves little, so they are
 * counted.
 */
export const dangers = [
  "a believing holder was taken over",
  "a resumed holder was taken over",
  "a write without an answer was found standing",
  "a write came to a record that another had taken over",
  "a grant was dropped for another life of the store",
  "a grant was dropped for another incarnation record",
  "a grant was dropped for another quarantine mark",
] as const;

export type Danger = (typeof dangers)[number];

/** What a process knew of a store's life when it last listed its records, or wrote down a life itself. */
interface KnownLife {
  readonly moment: StoreMoment;
  readonly incarnation: string | undefined;
  readonly quarantine: string | undefined;
}

/** Watches the calls of one process to its store, from outside, and reports what is dangerous in their answers. */
export class DangerWatch {
  readonly #report: (danger: Danger) => void;
  /** Texts that were sent, and no answer came. */
  readonly #unanswered = new Set<string>();
  #known: KnownLife | undefined;
  #isGrantNew = false;

  constructor(report: (danger: Danger) => void) {
    this.#report = report;
  }

  onList({ entries, moment }: ListAnswer): void {
    const textOf = (key: string): string | undefined => entries.find((entry) => entry.key === key)?.text;
    this.#known = { moment, incarnation: textOf(recordKeys.incarnation), quarantine: textOf(recordKeys.quarantine) };
    this.#isGrantNew = false;
  }

  onRead(key: string, { entry }: ReadAnswer): void {
    if (entry !== undefined && this.#unanswered.delete(entry.text)) {
      this.#report("a write without an answer was found standing");
    }
    if (!this.#isGrantNew) {
      // Another process was faster at noting the store's life.
      if (key === recordKeys.incarnation && this.#known !== undefined) {
        this.#known = { ...this.#known, incarnation: entry?.text };
      }
      return;
    }
    if (key === recordKeys.incarnation && entry?.text !== this.#known?.incarnation) {
      this.#report("a grant was dropped for another incarnation record");
    }
    if (key !== recordKeys.quarantine) return;
    this.#isGrantNew = false;
    if (entry?.text !== this.#known?.quarantine) this.#report("a grant was dropped for another quarantine mark");
  }

  onWritten(key: string, expected: Entry | undefined, next: string, answer: WriteAnswer): void {
    if (answer.kind !== "applied" || this.#known === undefined) return;
    if (key === recordKeys.incarnation) this.#known = { ...this.#known, incarnation: next, moment: answer.moment };
    if (parseWorkerKey(key) === undefined || tokenOf(next) === "" || tokenOf(next) === tokenOf(expected?.text)) return;
    this.#isGrantNew = true;
    const [before, after] = [this.#known.moment.incarnation, answer.moment.incarnation];
    if (before.identity === after.identity && before.startedMs === after.startedMs) return;
    this.#isGrantNew = false;
    this.#report("a grant was dropped for another life of the store");
  }

  onUnanswered(next: string): void {
    this.#unanswered.add(next);
  }

  /** The server got a write that expects what is not there. */
  onConflict(key: string, expected: Entry | undefined, standing: string | undefined): void {
    if (parseWorkerKey(key) === undefined || expected === undefined || standing === undefined) return;
    const [ours, theirs] = [tokenOf(expected.text), tokenOf(standing)];
    if (ours === "" || theirs === "" || ours === theirs) return;
    this.#report("a write came to a record that another had taken over");
  }
}

function tokenOf(text: string | undefined): string | undefined {
  return text === undefined ? undefined : /"token":"(\w*)"/.exec(text)?.[1];
}
