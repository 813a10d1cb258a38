import { IdError } from "../errors.ts";
import type { ProtocolContext } from "./protocol-context.ts";
import { type NotedIncarnation, noteIncarnation, storeNowMs, writeQuarantine } from "./quarantine.ts";
import { type Entry, type Incarnation, type StoreMoment, sameIncarnation } from "./record-store.ts";
import { quarantineMs, type WindowRules } from "./window.ts";
import { deploymentIdOf, type LayoutRecord, recordKeys } from "./worker-record.ts";

/**
 * What this process knows of losses of the store and the others must learn: a record that went back, for which a
 * quarantine mark is put down, and another life of the store, whose first sight is noted.
 */
export class LossNotices {
  /** What went back and has not yet been said. */
  #wentBack: string | undefined;
  /** The life of the store that stands noted, and an answer from another one that does not yet. */
  #noted: Incarnation | undefined;
  #unnoted: StoreMoment | undefined;
  #written = 0;
  /** Whose records stood in the store when this process, or an earlier life of it, last looked. */
  #deploymentId: string | undefined;
  #layout: LayoutRecord | undefined;

  /** Quarantine marks put down. */
  get written(): number {
    return this.#written;
  }

  /** Takes note that data was lost: nothing is acquired before everybody is told. */
  wentBack(detail: string): void {
    this.#wentBack = detail;
    // The mark says all that there is to say: what stands there from now on is taken as it is.
    this.#deploymentId = undefined;
  }

  /** Takes note of the deployment whose layout record stands in the store. */
  onLayout(record: LayoutRecord): void {
    this.#deploymentId = record.deploymentId;
    this.#layout = record;
  }

  /** The layout record that this process, or an earlier life of it, saw last, whatever became of it; or none. */
  get seenLayout(): LayoutRecord | undefined {
    return this.#layout;
  }

  /**
   * Looks whether the layout record that stood there still stands. It is written once and never deleted: where it is
   * gone, or is another deployment's, the store was emptied, whatever it says of itself. Who never saw it cannot know.
   *
   * @throws IdError STORE_WENT_BACK: {@link wentBack} is to be called with it, and a quarantine mark is owed then.
   */
  checkLayout(entries: readonly Entry[]): void {
    const known = this.#deploymentId;
    const entry = entries.find(({ key }) => key === recordKeys.layout);
    if (known === undefined || (entry !== undefined && deploymentIdOf(entry.text) === known)) return;
    const found = entry === undefined ? "gone" : "another deployment's";
    throw new IdError("STORE_WENT_BACK", `The layout record is ${found}: the store was emptied.`);
  }

  /** Looks at the moment of every answer. */
  onMoment(moment: StoreMoment): void {
    if (this.#noted !== undefined && !sameIncarnation(this.#noted, moment.incarnation)) this.#unnoted = moment;
  }

  /** Takes note of what stands beside the records now. */
  onNoted({ ports }: ProtocolContext, { moment, record, changed }: NotedIncarnation): void {
    this.#noted = moment.incarnation;
    this.#unnoted = undefined;
    if (changed) ports.report({ kind: "incarnation-changed", identity: record.identity, t0Ms: record.t0Ms });
  }

  /**
   * Puts down the quarantine mark that is owed. To be called before each acquire.
   *
   * @throws IdError as the store does: then nothing may be acquired.
   */
  async writeQuarantine(context: ProtocolContext, rules: WindowRules): Promise<void> {
    const reason = this.#wentBack;
    if (reason === undefined) return;
    const { store, judge, marks, ports } = context;
    const moment = await store.moment();
    const sinceMs = storeNowMs(moment, judge.nowMs());
    const untilMs = Math.max(sinceMs, marks.ms) + quarantineMs(rules);
    const mark = await writeQuarantine(store, { sinceMs, untilMs, reason: reason.slice(0, 200) });
    this.#wentBack = undefined;
    if (!mark.written) return;
    this.#written += 1;
    ports.report({ kind: "quarantine-written", untilMs, reason });
  }

  /** Tells what is owed while there is a grant, without haste: what fails now is told the next time. */
  async tell(context: ProtocolContext, rules: WindowRules): Promise<void> {
    try {
      await this.writeQuarantine(context, rules);
      const moment = this.#unnoted;
      if (moment === undefined) return;
      // Noted by whoever renews, so that t0 is not the moment at which somebody happens to start days later.
      const seen = { entry: undefined, moment, empty: false };
      this.onNoted(context, await noteIncarnation(context.store, seen, context.judge.nowMs()));
    } catch (cause) {
      if (!(cause instanceof IdError)) throw cause;
    }
  }
}
