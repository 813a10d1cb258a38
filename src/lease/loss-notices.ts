import { IdError } from "../errors.ts";
import type { AcquireSight } from "./acquire.ts";
import type { KnownLayout } from "./layout-agreement.ts";
import type { ProtocolContext } from "./protocol-context.ts";
import { judgeIncarnation, type NotedIncarnation, noteIncarnation, storeNowMs, writeQuarantine } from "./quarantine.ts";
import type { IncarnationRecord } from "./records/incarnation-record.ts";
import type { LayoutRecord } from "./records/layout-record.ts";
import type { StoreMoment } from "../store/record-store.ts";
import { quarantineMs, type WindowRules } from "./window.ts";

/**
 * What this process knows of losses of the store and the others must learn: a record that went back, for which a
 * quarantine mark is put down, and another life of the store, whose first sight is noted.
 * docs/adr/0082-emptied-stores.md has the decision.
 */
export class LossNotices {
  readonly #context: ProtocolContext;
  /** What went back and has not yet been said. */
  #regression: string | undefined;
  /** The life of the store that stands noted, and an answer from another one that does not yet. */
  #noted: IncarnationRecord | undefined;
  #unnoted: StoreMoment | undefined;
  /** The answer that came last. */
  #last: StoreMoment | undefined;
  #written = 0;
  #known: KnownLayout = { layout: undefined, deploymentId: undefined };

  constructor(context: ProtocolContext) {
    this.#context = context;
  }

  /** Quarantine marks put down. */
  get written(): number {
    return this.#written;
  }

  /** What this process, or an earlier life of it, knows of the layout record: what acquire is to go by. */
  get known(): KnownLayout {
    return this.#known;
  }

  /** Takes note that data was lost: nothing is acquired before everybody is told. */
  onRegression(detail: string): void {
    this.#regression = detail;
    // The mark says all that there is to say: what stands there from now on is taken as it is.
    this.#known = { ...this.#known, deploymentId: undefined };
  }

  /** Takes note of the layout record that stands in the store. */
  onLayout(layout: LayoutRecord): void {
    this.#known = { layout, deploymentId: layout.deploymentId };
  }

  /** Looks at the moment of every answer. */
  onMoment(moment: StoreMoment): void {
    this.#context.storeChanges.see(moment.incarnation.identity);
    this.#compare(moment);
  }

  /** Takes note of what a try to acquire saw, whatever became of it. */
  onAcquire({ incarnation, layout }: Pick<AcquireSight, "incarnation" | "layout">): void {
    if (incarnation !== undefined) this.#onNoted(incarnation);
    if (layout !== undefined) this.onLayout(layout);
  }

  /**
   * Puts down the quarantine mark that is owed. To be called before each acquire.
   *
   * It stands at Q from now on: by then every window is over that the store's clock allowed before. Where a clock was
   * wrong, marks may lie beyond that; those that this process knows count. docs/adr/0151 has the decision.
   *
   * @param own - By which this process takes windows; others may take longer ones, as the layout record says.
   * @throws IdError as the store does: then nothing may be acquired.
   */
  async writeQuarantine(own: WindowRules): Promise<void> {
    const reason = this.#regression;
    if (reason === undefined) return;
    const { store, judge, marks, ports } = this.#context;
    const moment = await store.moment();
    const sinceMs = storeNowMs(moment, judge.nowMs());
    const rules = this.#known.layout ?? own;
    const untilMs = Math.max(sinceMs + quarantineMs(rules), marks.ms);
    const mark = await writeQuarantine(store, { sinceMs, untilMs, reason: reason.slice(0, 200) });
    this.#regression = undefined;
    if (!mark.written) return;
    this.#written += 1;
    ports.report({ kind: "quarantine-written", untilMs, reason });
  }

  /** Tells what is owed while there is a grant, without haste: what fails now is told the next time. */
  async tell(rules: WindowRules): Promise<void> {
    const { store, judge, storeChanges } = this.#context;
    try {
      await this.writeQuarantine(rules);
      const moment = this.#unnoted;
      if (moment === undefined) return;
      // The holder that renews notes it, so that t0 is not the moment at which somebody happens to start days later.
      const seen = { entry: undefined, moment, empty: false };
      this.#onNoted(await noteIncarnation(store, storeChanges, seen, judge.nowMs()));
    } catch (cause) {
      if (!(cause instanceof IdError)) throw cause;
    }
  }

  /** Looks whether an answer says more than what stands noted. */
  #compare(moment: StoreMoment): void {
    this.#last = moment;
    if (this.#noted === undefined) return;
    const sight = { moment, empty: false, sawAnother: this.#context.storeChanges.hasUnreported };
    if (judgeIncarnation(this.#noted, sight, 0) !== this.#noted) this.#unnoted = moment;
  }

  /** Takes note of what stands beside the records now. */
  #onNoted({ record, changed }: NotedIncarnation): void {
    this.#noted = record;
    this.#unnoted = undefined;
    // Where other calls were made since it was noted, their answers were compared with what stood noted before.
    if (this.#last !== undefined) this.#compare(this.#last);
    if (changed) {
      this.#context.ports.report({ kind: "incarnation-changed", identity: record.identity, t0Ms: record.t0Ms });
    }
  }
}
