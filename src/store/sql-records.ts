import { MadeOnce } from "./link/made-once.ts";
import type { SqlDatabase } from "./link/sql-database.ts";
import type { StoreLink } from "./link/store-link.ts";
import {
  type Entry,
  type ListAnswer,
  momentOf,
  type ReadAnswer,
  type RecordKey,
  type RecordStore,
  serverTiming,
  type StoreAdvice,
  type StoreMoment,
  type StoreOptions,
  type WriteAnswer,
} from "./record-store.ts";

/** The name of the table; a dialect may put a schema before it. */
export const recordTable = "snowlane_record";

/** The differences between databases. */
export interface RecordDialect<Connection> {
  /** Scheme of the store. */
  readonly kind: string;
  /** Connects to the database, and asks for everything other than records. */
  readonly database: SqlDatabase<Connection>;
  /** {@link recordTable}, as it is written in statements. */
  readonly table: string;
  /** See {@link RecordStore.skipsEqualWrites}. */
  readonly skipsEqualWrites?: boolean;
  /** Creates the table of records if it is missing. */
  readonly createTable: (connection: Connection) => Promise<void>;
  /** Reads all records of a namespace. */
  readonly list: (connection: Connection, namespace: string) => Promise<readonly { key: string; text: string }[]>;
  /** Reads one record; undefined if there is none. */
  readonly read: (connection: Connection, namespace: string, key: string) => Promise<string | undefined>;
  /**
   * Writes the row if there is none. This and {@link replace} return whether the row was written; then it is durable.
   */
  readonly create: (connection: Connection, namespace: string, key: string, text: string) => Promise<boolean>;
  /** See {@link create}. Writes the row only if its text is the expected one. */
  readonly replace: (connection: Connection, row: ReplacedRow) => Promise<boolean>;
  /** Whether the server refused the statement, so that nothing was written. */
  readonly isRefused: (error: unknown) => boolean;
  /** Checks the server for settings that reduce durability. An empty list if there are none. */
  readonly advise: (connection: Connection) => Promise<readonly StoreAdvice[]>;
}

/** A row that is written if it still has the expected text. */
interface ReplacedRow {
  readonly namespace: string;
  readonly key: string;
  readonly expected: string;
  readonly text: string;
}

/**
 * Records in a database that speaks SQL: one table for all namespaces, compared by value.
 *
 * Every statement is a separate transaction.
 */
export class SqlRecords<Connection> implements RecordStore {
  readonly kind: string;
  readonly durability = "durable";
  readonly readsMayBeUndone = true;
  readonly skipsEqualWrites: boolean;
  readonly liveness = { kind: "ttl" } as const;
  readonly timing = serverTiming;
  readonly #dialect: RecordDialect<Connection>;
  readonly #namespace: string;
  readonly #link: StoreLink<Connection>;

  constructor(dialect: RecordDialect<Connection>, { namespace, whereNew }: StoreOptions) {
    const { kind, database, table, createTable: make, skipsEqualWrites = false } = dialect;
    this.kind = kind;
    this.skipsEqualWrites = skipsEqualWrites;
    this.#dialect = dialect;
    this.#namespace = namespace;
    this.#link = database.link(new MadeOnce({ kind, noun: "table", names: [table], whereNew, make }));
  }

  moment(): Promise<StoreMoment> {
    return this.#link.call((connection) => this.#moment(connection));
  }

  list(): Promise<ListAnswer> {
    return this.#link.call(async (connection) => {
      const entries = await this.#dialect.list(connection, this.#namespace);
      return { entries, moment: await this.#moment(connection) };
    });
  }

  read(key: RecordKey): Promise<ReadAnswer> {
    return this.#link.call(async (connection) => {
      const text = await this.#dialect.read(connection, this.#namespace, key);
      return { entry: text === undefined ? undefined : { key, text }, moment: await this.#moment(connection) };
    });
  }

  compareAndSet(key: RecordKey, expected: Entry | undefined, next: string): Promise<WriteAnswer> {
    return this.#link.call(async (connection) => {
      const [dialect, namespace] = [this.#dialect, this.#namespace];
      let isApplied: boolean;
      try {
        isApplied =
          expected === undefined
            ? await dialect.create(connection, namespace, key, next)
            : await dialect.replace(connection, { namespace, key, expected: expected.text, text: next });
      } catch (error) {
        if (dialect.isRefused(error)) return { kind: "refused", error: this.#link.refusal(error) };
        throw error;
      }
      const moment = await this.#moment(connection);
      if (!isApplied) return { kind: "conflict", moment };
      return { kind: "applied", entry: { key, text: next }, moment };
    }, "write");
  }

  advise(): Promise<readonly StoreAdvice[]> {
    return this.#link.call(this.#dialect.advise);
  }

  async close(): Promise<void> {
    this.#link.close();
  }

  async #moment(connection: Connection): Promise<StoreMoment> {
    return momentOf(await this.#dialect.database.moment(connection, this.#dialect.table));
  }
}
