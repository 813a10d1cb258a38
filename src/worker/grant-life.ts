import { unlock } from "../lease/acquire.ts";
import type { Grant } from "../lease/grant.ts";
import type { GrantedGenerator } from "./granted-generator.ts";
import type { LossNotices } from "../lease/loss-notices.ts";
import { asStoreError } from "../lease/observed-store.ts";
import type { ProtocolContext } from "../lease/protocol-context.ts";
import { release } from "../lease/release.ts";
import { prepareRenewal, type RenewalOutcome, sendRenewal } from "../lease/renewal.ts";
import { ResumeKeeper } from "../lease/resume/resume-keeper.ts";
import type { RecalledGrant, ResumeJournal } from "../lease/resume/resume-record.ts";
import type { LayoutRecord } from "../lease/records/layout-record.ts";
import { IdError } from "../errors.ts";
import type { WindowRules } from "../lease/window.ts";
import type { GrantEnd } from "../lease/worker-event.ts";
import { splitWorkerIndex, windowRules } from "../lease/worker-settings.ts";
import type { Granted } from "./grant-search.ts";

/** The store that a {@link GrantLife} writes to, and the generator that issues under its grant. */
export interface GrantLifeParts {
  /** The store, the settings and the memory that all steps of the protocol share. */
  readonly context: ProtocolContext;
  /** Is notified of losses of the store that renewals show. */
  readonly losses: LossNotices;
  /** Receives each grant, each new end of its window, and the end of issuing. */
  readonly generator: GrantedGenerator;
  /** undefined: grants are not resumed. */
  readonly journal: ResumeJournal | undefined;
  /** Called when the resume record allows further timestamps. */
  readonly onAdvance: () => void;
}

/**
 * The grant that IDs are issued under, from its first resume record to its release.
 *
 * `#stopIssuing` is the one place where issuing ends: in one step with it, the timestamps in use are noted.
 */
export class GrantLife {
  readonly #parts: GrantLifeParts;
  /** undefined if grants are not resumed. */
  #keeper: ResumeKeeper | undefined;
  #grant: Grant | undefined;
  /** The grant under which the generator issues: that of `#grant`, or none. */
  #issuing: Grant | undefined;
  #rules: WindowRules;
  #layoutRecord: LayoutRecord | undefined;
  #isClosed = false;
  /** Locks of grants that ended, to be given back before the next is asked for. */
  readonly #locksToGiveBack: string[] = [];
  /** Grants that ended, whose resume records may still exist. */
  readonly #recordsToRemove = new Set<Grant>();

  constructor(parts: GrantLifeParts) {
    const { settings, store } = parts.context;
    this.#parts = parts;
    this.#rules = windowRules(settings, store, settings.windowMaxMs ?? settings.windowMs);
    this.#keeper = this.#createKeeper();
  }

  /** The grant under which IDs are issued; undefined if no IDs are. */
  get grant(): Grant | undefined {
    return this.#grant;
  }

  /** The rules by which windows are calculated; before the first grant, those of the settings alone. */
  get rules(): WindowRules {
    return this.#rules;
  }

  /** The layout record of the namespace; undefined before the first grant. */
  get layoutRecord(): LayoutRecord | undefined {
    return this.#layoutRecord;
  }

  /** Finds the grant of an earlier life of this process, if it left one that has time left. */
  async recall(): Promise<RecalledGrant | undefined> {
    try {
      return await this.#keeper?.recall();
    } catch (cause) {
      // Without a readable record there is nothing to resume, and a record that cannot be written would delay every ID.
      this.#keeper = undefined;
      const error = asStoreError(cause, "resume");
      this.#parts.context.ports.report({ kind: "store-problem", during: "resume record", error });
      return undefined;
    }
  }

  /** Writes the resume record of a grant that is about to begin. Nothing may be issued under the grant before. */
  async prepare({ grant, layoutRecord }: Pick<Granted, "grant" | "layoutRecord">): Promise<void> {
    await this.#keeper?.begin(grant, layoutRecord);
  }

  /**
   * Takes a prepared grant into use, in one step; the previous one has ended. After {@link close} nothing is issued
   * under it.
   */
  begin({ grant, rules, layoutRecord }: Omit<Granted, "kind">, how: "acquired" | "resumed"): void {
    const { context, generator } = this.#parts;
    const { datacenterId, workerId } = splitWorkerIndex(context.settings.layout, grant.workerIndex);
    const { generation, fromMs, untilMs } = grant;
    this.#grant = grant;
    this.#rules = rules;
    this.#layoutRecord = layoutRecord;
    context.ports.report({ kind: how, datacenterId, workerId, generation, fromMs, untilMs });
    if (this.#isClosed) return;
    this.#issuing = grant;
    generator.grant({ datacenterId, workerId, fromMs, untilMs: this.#limitMs(grant) }, context.judge.nowMs());
  }

  /**
   * Renews once. The write is in the resume record before it is sent: a process that resumes after a crash must
   * recognize as its own a write that landed without an answer.
   */
  async renew(grant: Grant): Promise<RenewalOutcome> {
    const { context, generator } = this.#parts;
    const renewal = await prepareRenewal(context, grant, this.#rules, () => generator.lastMs);
    if (renewal.kind !== "prepared") return renewal;
    await this.#keeper?.note(grant);
    return await sendRenewal(context, grant, this.#rules, renewal);
  }

  /** Lets IDs be issued as far as the grant allows now. Does nothing after issuing has stopped. */
  extend(): void {
    const grant = this.#grant;
    if (grant !== undefined && this.#issuing === grant) this.#parts.generator.extend(this.#limitMs(grant));
  }

  /** Moves the mark of the resume record if it has to move. Never waits. */
  touch(why: "beat" | "renewed"): void {
    if (this.#grant !== undefined) this.#keeper?.touch(this.#grant, why === "renewed");
  }

  /** Ends a grant: from here on, no ID is issued under it. */
  end(grant: Grant, end: GrantEnd, detail: string): void {
    const { context, losses } = this.#parts;
    this.#stopIssuing();
    this.#grant = undefined;
    grant.end(end);
    const place = splitWorkerIndex(context.settings.layout, grant.workerIndex);
    context.ports.report({ kind: "grant-ended", end, ...place, detail });
    if (end === "released") return;
    if (end === "regressed") losses.onRegression(detail);
    this.#locksToGiveBack.push(grant.key);
    this.#recordsToRemove.add(grant);
  }

  /** Stops issuing permanently; the grant stays until it is given back. */
  close(): void {
    this.#isClosed = true;
    this.#stopIssuing();
  }

  /** Gives back a worker ID whose grant has ended as `released`. */
  async giveBack(grant: Grant): Promise<void> {
    const { context, losses } = this.#parts;
    this.#recordsToRemove.add(grant);
    // Its resume record must be removed first: a restart would resume from it. If it cannot be removed, the worker ID
    // becomes free by itself.
    if ((await this.#removeRecords()) !== undefined) return;
    const outcome = await release(context, grant, this.#rules);
    if (outcome.kind === "regressed") losses.onRegression(outcome.detail);
    await unlock(context, grant.key);
  }

  /**
   * Clears up after grants that ended, which must be done before the next is asked for.
   *
   * @returns Why a resume record may still exist.
   */
  async clearUp(): Promise<IdError | undefined> {
    for (const key of this.#locksToGiveBack.splice(0)) await unlock(this.#parts.context, key);
    return await this.#removeRecords();
  }

  /** Nothing is issued from here on until the next grant. Notes up to where the present grant was used. */
  #stopIssuing(): void {
    const { context, generator } = this.#parts;
    if (this.#issuing !== undefined) {
      this.#issuing.usedToMs = generator.markMs;
      context.used.set(this.#issuing.workerIndex, generator.markMs);
    }
    generator.revoke();
    this.#issuing = undefined;
  }

  /** Up to where a grant may be used: what the store confirmed, and what its resume record covers. */
  #limitMs(grant: Grant): number {
    return Math.min(grant.untilMs, this.#keeper?.limitMs(grant) ?? Number.POSITIVE_INFINITY);
  }

  #createKeeper(): ResumeKeeper | undefined {
    const { context, generator, journal, onAdvance } = this.#parts;
    const { judge, ports, settings, store } = context;
    // A store with locks is a local file, so it is as available as a journal would be.
    if (journal === undefined || store.liveness.kind === "lock") return undefined;
    return new ResumeKeeper({
      journal,
      settings,
      judge,
      lastMs: () => generator.lastMs,
      onAdvance: () => {
        this.extend();
        onAdvance();
      },
      report: ports.report,
    });
  }

  /** @returns Why one of them may still exist. */
  async #removeRecords(): Promise<IdError | undefined> {
    for (const grant of this.#recordsToRemove) {
      try {
        await this.#keeper?.end(grant);
        this.#recordsToRemove.delete(grant);
      } catch (cause) {
        if (!(cause instanceof IdError)) throw cause;
        return cause;
      }
    }
    return undefined;
  }
}
