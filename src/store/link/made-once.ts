import { IdError } from "../../errors.ts";

/** The tables or znodes that a {@link MadeOnce} creates, and how it creates them. */
export interface MadeOnceOptions<Connection> {
  /** Scheme of the store, for messages. */
  readonly kind: string;
  /** The store's word for them, for messages. */
  readonly noun: "table" | "znode";
  /** At least one. */
  readonly names: readonly string[];
  /** What to do if nothing was ever kept: `create` (default) creates them, `refuse` throws INVALID_CONFIG. */
  readonly whereNew?: "create" | "refuse" | undefined;
  /** Creates the missing ones. Another process may do the same at the same time. */
  readonly make: (connection: Connection) => Promise<void>;
  /** Checks existing ones, if their form may be older or newer than ours; called once for each connection. */
  readonly check?: (connection: Connection) => Promise<void>;
}

/**
 * Creates the tables (or znodes) in which a store keeps its data, if there are none yet.
 *
 * Never creates them again. A table that existed and is gone held marks; a new one would be empty, and numbers that
 * were issued would be issued a second time. So the loss is an error instead. Several connections to the same tables
 * share one object, so a loss that one of them can notice is a loss for all.
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
   * Called with each new connection, before its first use.
   *
   * @param areThere - Whether all of them exist now.
   * @throws IdError STORE_WENT_BACK: they existed before. INVALID_CONFIG: they never existed, and `whereNew` forbids
   * creating them.
   */
  async ensure(connection: Connection, areThere: boolean): Promise<void> {
    await (areThere ? this.#options.check?.(connection) : this.#make(connection));
    this.#isKnown = true;
  }

  async #make(connection: Connection): Promise<void> {
    const { kind, noun, names, whereNew, make } = this.#options;
    const what = `${noun}${names.length === 1 ? "" : "s"} ${names.join(", ")}`;
    if (this.#isKnown) {
      const message = `The ${kind} store has lost its ${what}. Restore it before you start a server, which would create an empty ${noun}.`;
      throw new IdError("STORE_WENT_BACK", message, { metadata: { store: kind, what } });
    }
    if (whereNew === "refuse") throw nothingKept(kind, `it has no ${what}`);
    await make(connection);
  }
}

/** The error for a command that only reads, if nothing was ever kept. Its metadata says so with `kept`. */
export function nothingKept(kind: string, problem: string): IdError {
  const message = `No server was ever started on this ${kind} store: ${problem}. Check its URL and the namespace.`;
  return new IdError("INVALID_CONFIG", message, { metadata: { store: kind, problem, kept: "nothing" } });
}
