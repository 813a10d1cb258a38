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
 * Losses of the store that this process knows of and other processes have to learn of: a record that went back, for
 * which a quarantine mark is written, and another life of the store, whose first sight is noted.
 * docs/adr/0082-emptied-stores.md has the decision.
 */
export class LossNotices {
  readonly #context: ProtocolContext;
  /** A loss that was noticed and has not yet been reported in the store. */
  #regression: string | undefined;
  /** The life of the store that is noted, and below it an answer that showed another life, which is not noted yet. */
  #noted: IncarnationRecord | undefined;
  #unnoted: StoreMoment | undefined;
  /** The answer that came last. */
  #last: StoreMoment | undefined;
  #written = 0;
  #known: KnownLayout = { layout: undefined, deploymentId: undefined };

  constructor(context: ProtocolContext) {
    this.#context = context;
  }

  /** How many quarantine marks were written. */
  get written(): number {
    return this.#written;
  }

  /** What this process, or an earlier life of it, knows of the layout record: what acquire compares with. */
  get known(): KnownLayout {
    return this.#known;
  }

  /** Takes note that data was lost: nothing is acquired before the quarantine mark is written. */
  onRegression(detail: string): void {
    this.#regression = detail;
    // The quarantine mark covers the loss: from now on the records of the store are accepted as they are.
    this.#known = { ...this.#known, deploymentId: undefined };
  }

  /** Takes note of the layout record in the store. */
  onLayout(layout: LayoutRecord): void {
    this.#known = { layout, deploymentId: layout.deploymentId };
  }

  /** Looks at the moment of every answer. */
  onMoment(moment: StoreMoment): void {
    this.#context.storeChanges.see(moment.incarnation.identity);
    this.#compare(moment);
  }

  /** Takes note of what a try to acquire saw, also if it failed. */
  onAcquire({ incarnation, layout }: Pick<AcquireSight, "incarnation" | "layout">): void {
    if (incarnation !== undefined) this.#onNoted(incarnation);
    if (layout !== undefined) this.onLayout(layout);
  }

  /**
   * Writes the quarantine mark, if one is due. To be called before each acquire.
   *
   * The mark is Q from now: by then every window that the store's clock allowed before is over. Where a clock was
   * wrong, marks may lie beyond that, so the mark is no lower than any that this process knows. docs/adr/0151 has the
   * decision.
   *
   * @param own - The rules by which this process takes windows; others may take longer ones, as the layout record says.
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

  /** Reports losses to the store while there is a grant. A report that fails is repeated at the next call. */
  async tell(rules: WindowRules): Promise<void> {
    const { store, judge, storeChanges } = this.#context;
    try {
      await this.writeQuarantine(rules);
      const moment = this.#unnoted;
      if (moment === undefined) return;
      // A holder that renews notes it, so that t0 is not the moment at which some process happens to start days later.
      const seen = { entry: undefined, moment, empty: false };
      this.#onNoted(await noteIncarnation(store, storeChanges, seen, judge.nowMs()));
    } catch (cause) {
      if (!(cause instanceof IdError)) throw cause;
    }
  }

  /** Checks whether an answer shows something that is not noted yet. */
  #compare(moment: StoreMoment): void {
    this.#last = moment;
    if (this.#noted === undefined) return;
    const sight = { moment, empty: false, sawAnother: this.#context.storeChanges.hasUnreported };
    if (judgeIncarnation(this.#noted, sight, 0) !== this.#noted) this.#unnoted = moment;
  }

  /** Takes note of the incarnation record as it is now. */
  #onNoted({ record, changed }: NotedIncarnation): void {
    this.#noted = record;
    this.#unnoted = undefined;
    // Answers that came meanwhile were compared with the record before this one.
    if (this.#last !== undefined) this.#compare(this.#last);
    if (changed) {
      this.#context.ports.report({ kind: "incarnation-changed", identity: record.identity, t0Ms: record.t0Ms });
    }
  }
}
