import { hostname } from "node:os";
import { type Clock, systemClock, systemTimers, systemUptimeMs } from "../clock/clock.ts";
import { kernelRandom128 } from "../kernel-random.ts";
import { type PastGrant, type PastRequest, refuseWithoutLayout } from "../lease/claim-past.ts";
import { type PastPreview, previewPast } from "../lease/preview-past.ts";
import type { LayoutRecord } from "../lease/records/layout-record.ts";
import { parseLayoutRecord } from "../lease/records/layout-slot.ts";
import { recordKeys } from "../lease/records/record-text.ts";
import { createHolder } from "../lease/records/worker-record.ts";
import { layoutOf } from "../lease/worker-list.ts";
import { resolveWorkerSettings } from "../lease/worker-settings.ts";
import type { Layout } from "../snowflake/layout.ts";
import { openStore } from "../store/open-store.ts";
import type { RecordStore } from "../store/record-store.ts";
import { claimOnce } from "./claim-once.ts";

/** A {@link PastRequest} whose second statement may be `now`: up to the moment at which the store was opened. */
export interface StatedRequest extends Omit<PastRequest, "storeKeptUntilMs"> {
  readonly storeKeptUntilMs: number | "now";
}

/** The store, and the program that claims. */
export interface PastProgram {
  readonly storeUrl: string;
  readonly namespace: string;
  /** The version of the program, which the worker's record shows. */
  readonly version: string;
  readonly clock?: Clock;
}

/** Longest time of one call to the store: long enough for a distant one, short enough for a user who waits. */
const callTimeoutMs = 5_000;

/** A store whose past is claimed, with the layout that its namespace was started with. */
export class PastStore {
  readonly layout: Layout;
  readonly record: LayoutRecord;
  readonly #store: RecordStore;
  readonly #clock: Clock;
  readonly #openedMs: number;
  readonly #program: PastProgram;

  private constructor(
    store: RecordStore,
    record: LayoutRecord,
    program: PastProgram & { readonly clock: Clock; readonly openedMs: number },
  ) {
    this.#store = store;
    this.#clock = program.clock;
    this.#openedMs = program.openedMs;
    this.#program = program;
    this.record = record;
    this.layout = layoutOf(record);
  }

  /**
   * Opens a store whose past is to be claimed. Does not create a store.
   *
   * @throws IdError INVALID_CONFIG if no server was ever started on the namespace; as the store does.
   */
  static async open(program: PastProgram): Promise<PastStore> {
    const { storeUrl, namespace, clock = systemClock } = program;
    // A statement up to `now` reaches to before the first look at the store, by the clock that is behind.
    const wallMs = clock.nowMs();
    const store = await openStore(storeUrl, { namespace, callTimeoutMs, whereNew: "refuse" });
    try {
      const { clockMs = wallMs } = await store.moment();
      const listed = await store.list();
      refuseWithoutLayout(store, namespace, listed);
      const entry = listed.entries.find(({ key }) => key === recordKeys.layout);
      const record = parseLayoutRecord(entry!.text);
      return new PastStore(store, record, { ...program, clock, openedMs: Math.min(wallMs, clockMs) });
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  /** See {@link previewPast}. */
  async preview(request: StatedRequest): Promise<PastPreview> {
    const stored = { layout: this.layout, record: this.record, wallMs: this.#clock.nowMs() };
    return previewPast(this.#store, await this.#store.list(), stored, this.#resolve(request));
  }

  /** See claimPast. @throws IdError as its outcomes `refused` and `failed`. */
  async claim(request: StatedRequest): Promise<PastGrant> {
    const { namespace, version } = this.#program;
    const clock = this.#clock;
    const named = { instance: "past", host: hostname(), processId: process.pid, bootId: "" };
    const holder = createHolder({ ...named, sinceMs: clock.nowMs(), version });
    const windowMs = this.record.windowMaxMs;
    const settings = resolveWorkerSettings({ namespace, holder, windowMs }, this.layout, this.#store);
    const ports = {
      clock,
      timers: systemTimers,
      uptimeMs: systemUptimeMs,
      random128: kernelRandom128,
      random: Math.random,
      report: () => {},
    };
    const { outcome } = await claimOnce({ store: this.#store, settings, ports }, this.#resolve(request));
    if (outcome.kind === "claimed") return outcome.grant;
    throw outcome.error;
  }

  #resolve(request: StatedRequest): PastRequest {
    const { storeKeptUntilMs: stated } = request;
    return { ...request, storeKeptUntilMs: stated === "now" ? this.#openedMs : stated };
  }
}
