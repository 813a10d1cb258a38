import { hostname } from "node:os";
import type { Clock, Timers } from "../clock/clock.ts";
import { openSequenceStore } from "./open-sequence-store.ts";
import type { SequenceCatalog } from "./sequence-catalog.ts";
import { shuttingDown } from "./sequence-error.ts";
import type { SequenceEvent } from "./sequence-database.ts";
import type { SequenceStore, SequenceStoreOptions } from "./sequence-store.ts";
import type { StoredSequence } from "./sequence.ts";
import type { StripePart, StripeSet, StripeSetParts } from "./stripe-set.ts";
import type { StripedDatabases } from "./striped-databases.ts";
import type { SequenceCounters, ValueSource } from "./value-source.ts";
import type { OpenLimits, ValueSources } from "./value-sources.ts";

/** How often the errors of operators' calls are reported at most, in milliseconds. */
const problemPeriodMs = 60_000;

/** The databases that keep the sequences of a process, and its limits for names and waits. */
export interface SequencesOptions {
  /** URLs of the databases, in any order: at least one. */
  readonly storeUrls: readonly string[];
  /** The number of stripes; undefined = as many as there are databases, if these are new. */
  readonly stripeCount?: number | undefined;
  /** How each database is opened: its namespace, its deadline, its number of connections. */
  readonly store: SequenceStoreOptions;
  /** See {@link StripeSetParts.bind}. Absent if there is no deployment to compare with. */
  readonly bind?: StripeSetParts["bind"] | undefined;
  /** The longest that a call waits for values, in milliseconds. */
  readonly waitMaxMs: number;
  /** The most sequences in memory, at least 1. */
  readonly namesMax: number;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Called with each event of the databases, for logs and metrics. */
  readonly onEvent: (event: SequenceEvent) => void;
  /**
   * The name of this process, for operators: 1 to 100 printable characters; absent = the machine's name and the process
   * ID.
   */
  readonly server?: string | undefined;
}

/** A snapshot for metrics. */
export interface SequencesStatus extends Readonly<SequenceCounters> {
  /** Sequences in memory. */
  readonly names: number;
  /** How long the values in memory last, for the sequence that runs out first; infinite if no values are used. */
  readonly stockMs: number;
  /** Whether values may not be taken, as far as this process knows. */
  readonly stopped: boolean;
  /** How often the database was found stopped, and how often it opened again. */
  readonly stops: number;
  readonly openings: number;
}

/** The objects that are made once the database is open. */
interface OpenSequences {
  readonly stores: readonly SequenceStore[];
  readonly stripes: StripeSet;
  readonly database: StripedDatabases;
  readonly sources: ValueSources;
  readonly catalog: SequenceCatalog;
}

/** The sequences of a process. The database is opened with the first call, and closed by {@link close}. */
export class Sequences {
  readonly #options: SequencesOptions;
  #opening: Promise<OpenSequences> | undefined;
  #open: OpenSequences | undefined;
  readonly #counters: SequenceCounters = { issued: 0, taken: 0, refused: 0, failed: 0 };
  #stops = 0;
  #openings = 0;
  #isClosed = false;
  #databaseId = "";
  #problemMs = Number.NEGATIVE_INFINITY;

  constructor(options: SequencesOptions) {
    this.#options = options;
  }

  /** The source of a name that is in memory: the hot path. */
  find(name: string): ValueSource | undefined {
    return this.#open?.sources.find(name);
  }

  /** See {@link ValueSources.findByBytes}. */
  findByBytes(bytes: Uint8Array, start: number, end: number): ValueSource | undefined {
    return this.#open?.sources.findByBytes(bytes, start, end);
  }

  /** See {@link ValueSources.open}. Opens the database if needed. */
  open(name: string, limits?: OpenLimits): ValueSource | Promise<ValueSource> {
    return this.#open?.sources.open(name, limits) ?? this.#opened().then(({ sources }) => sources.open(name, limits));
  }

  /** See {@link ValueSources.withPeriod}. */
  async withPeriod<T>(
    stored: StoredSequence,
    periodKey: string,
    work: (source: ValueSource) => Promise<T>,
  ): Promise<T> {
    return (await this.#opened()).sources.withPeriod(stored, periodKey, work);
  }

  /** The operations other than taking values. Opens the database if needed. */
  async catalog(): Promise<SequenceCatalog> {
    return (await this.#opened()).catalog;
  }

  /** Reports an error of the database that the caller of an operator's method is not shown, at most once a minute. */
  reportFailedCall(error: unknown): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs - this.#problemMs < problemPeriodMs) return;
    this.#problemMs = nowMs;
    this.#onEvent({ kind: "call-failed", error });
  }

  /**
   * The ID of the database that counts the values; if there are several, that of stripe 0. Empty before one was opened.
   */
  get databaseId(): string {
    return this.#databaseId;
  }

  /** Values that were handed out since the process started. */
  get issuedCount(): number {
    return this.#counters.issued;
  }

  /** A snapshot; cheap, but not for the hot path. */
  status(): SequencesStatus {
    return {
      ...this.#counters,
      names: this.#open?.sources.size ?? 0,
      stockMs: this.#open?.sources.stockMs ?? Number.POSITIVE_INFINITY,
      stopped: this.#open?.database.stopReason !== undefined,
      stops: this.#stops,
      openings: this.#openings,
    };
  }

  /**
   * Gives one more database a stripe. See {@link StripeSet.add}.
   *
   * @throws IdError STORE_UNAVAILABLE, STORE_WENT_BACK, INVALID_CONFIG.
   */
  async addDatabase(url: string): ReturnType<StripeSet["add"]> {
    const { stripes } = await this.#opened();
    const [{ stripe }] = (await stripes.usable()) as [StripePart];
    const store = await openSequenceStore(url, {
      ...this.#options.store,
      whereNew: "create",
      stripeCount: stripe.count,
    });
    try {
      return await stripes.add(store);
    } finally {
      await store.close();
    }
  }

  /** Gives back all unused values, then closes the database. Never rejects. */
  async close(timeoutMs: number): Promise<void> {
    this.#isClosed = true;
    const open = await this.#opening?.catch(() => undefined);
    if (open === undefined) return;
    await open.sources.close(timeoutMs);
    await Promise.all(open.stores.map((store) => store.close().catch(() => {})));
  }

  #opened(): Promise<OpenSequences> {
    if (this.#isClosed) return Promise.reject(shuttingDown());
    // A failed opening is not kept: the next call tries again, because a missing file may be there by then.
    this.#opening ??= this.#openAll().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  async #openAll(): Promise<OpenSequences> {
    const { storeUrls, stripeCount, store: storeOptions, waitMaxMs, namesMax, clock, timers } = this.#options;
    const { server = ownName(), bind = async () => {} } = this.#options;
    const onEvent = (event: SequenceEvent): void => this.#onEvent(event);
    // Loaded only now, so that a server whose sequences are not used starts without this code.
    const [{ SequenceDatabase }, { StripeSet }, { StripedDatabases }, { ValueSources }, { SequenceCatalog }] =
      await Promise.all([
        import("./sequence-database.ts"),
        import("./stripe-set.ts"),
        import("./striped-databases.ts"),
        import("./value-sources.ts"),
        import("./sequence-catalog.ts"),
      ]);
    const options = { ...storeOptions, stripeCount: stripeCount ?? storeUrls.length };
    const stores = await Promise.all(storeUrls.map((url) => openSequenceStore(url, options)));
    const stripes = new StripeSet({
      stores,
      stripeCount,
      clock,
      timers,
      waitMaxMs,
      databaseOf: (store, stripe) => new SequenceDatabase({ store, clock, onEvent, stripe, server }),
      bind: async (databaseId) => {
        await bind(databaseId);
        this.#databaseId = databaseId;
      },
      onProblem: (error) => onEvent({ kind: "stripe-problem", stripe: undefined, error }),
      onAnswers: (stripe) => onEvent({ kind: "stripe-answers", stripe }),
    });
    const database = new StripedDatabases({ stripes, clock, timers, waitMaxMs, onEvent });
    const sources = new ValueSources({
      database,
      counters: this.#counters,
      clock,
      timers,
      waitMaxMs,
      namesMax,
      onEvent,
    });
    const catalog = new SequenceCatalog({
      stripes,
      clock,
      onChanged: (stored) => sources.refresh(database.changed(stored)),
    });
    this.#open = { stores, stripes, database, sources, catalog };
    return this.#open;
  }

  #onEvent(event: SequenceEvent): void {
    if (event.kind === "stopped") this.#stops += 1;
    else if (event.kind === "opened") this.#openings += 1;
    this.#options.onEvent(event);
  }
}

/** The name of this process if none is given. */
function ownName(): string {
  return `${hostname()}:${process.pid}`;
}
