import { IdError } from "../../errors.ts";

/** The places that a {@link MadeOnce} makes, and how. */
export interface MadeOnceOptions<Connection> {
  /** Scheme of the store, for messages. */
  readonly kind: string;
  /** The store's word for such a place, for messages. */
  readonly noun: "table" | "znode";
  /** At least one. */
  readonly names: readonly string[];
  /** What to do where nothing was ever kept: `create` (default) makes it, `refuse` throws INVALID_CONFIG. */
  readonly whereNew?: "create" | "refuse" | undefined;
  /** Makes the missing ones. Another process may do the same at the same time. */
  readonly make: (connection: Connection) => Promise<void>;
  /** Looks at those that are there, where their form may be older or newer than ours: once for each connection. */
  readonly check?: (connection: Connection) => Promise<void>;
}

/**
 * Makes the tables (or znodes) in which a store keeps its data, where there are none yet.
 *
 * Never makes them again. A table that was there and is gone held marks; a new one would be empty, and numbers that
 * were issued would be issued a second time. So the loss is an error instead. Several connections to the same tables
 * share one object: a loss that one of them could see is then a loss for all.
 */
export class MadeOnce<Connection> {
  readonly #options: MadeOnceOptions<Connection>;
  #isKnown = false;

  constructor(options: MadeOnceOptions<Connection>) {
    this.#options = options;
  }

  /** See {@link MadeOnceOptions.names}. */
  get names(): readonly string[] {
    return this.#options.names;
  }

  /**
   * Is called with each new connection, before its first use.
   *
   * @param areThere - Whether all of them are there now.
   * @throws IdError STORE_WENT_BACK: they were there before. INVALID_CONFIG: they were never there, and `whereNew`
   * forbids to make them.
   */
  async ensure(connection: Connection, areThere: boolean): Promise<void> {
    await (areThere ? this.#options.check?.(connection) : this.#make(connection));
    this.#isKnown = true;
  }

  async #make(connection: Connection): Promise<void> {
    const { kind, noun, names, whereNew, make } = this.#options;
    const what = `${noun}${names.length === 1 ? "" : "s"} ${names.join(", ")}`;
    if (this.#isKnown) {
      const message = `The ${kind} store has lost its ${what}. Restore it before you start a server, which would make an empty ${noun}.`;
      throw new IdError("STORE_WENT_BACK", message, { metadata: { store: kind, what } });
    }
    if (whereNew === "refuse") throw nothingKept(kind, `it has no ${what}`);
    await make(connection);
  }
}

/** The error for a command that only looks, where nothing was ever kept. Its metadata says so with `kept`. */
export function nothingKept(kind: string, problem: string): IdError {
  const message = `Nothing was ever started on this ${kind} store: ${problem}. Check its URL and the namespace.`;
  return new IdError("INVALID_CONFIG", message, { metadata: { store: kind, problem, kept: "nothing" } });
}
