import { IdError } from "../errors.ts";
import type { ProtocolContext } from "./protocol-context.ts";
import { type NotedIncarnation, noteIncarnation, storeNowMs, writeQuarantine } from "./quarantine.ts";
import { type Incarnation, type StoreMoment, sameIncarnation } from "./record-store.ts";
import { quarantineMs, type WindowRules } from "./window.ts";

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

  /** Quarantine marks put down. */
  get written(): number {
    return this.#written;
  }

  /** Takes note that data was lost: nothing is acquired before everybody is told. */
  wentBack(detail: string): void {
    this.#wentBack = detail;
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
