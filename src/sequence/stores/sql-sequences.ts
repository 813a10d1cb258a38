import { systemClock, systemTimers, delay } from "../../clock/clock.ts";
import { IdError } from "../../errors.ts";
import { MadeOnce } from "../../store/link/made-once.ts";
import type { SqlDatabase } from "../../store/link/sql-database.ts";
import type { StoreLink } from "../../store/link/store-link.ts";
import { earliestStartMs } from "../period.ts";
import type { MovableStore, MoveRequest } from "../movable-store.ts";
import type { StoredSequence } from "../sequence.ts";
import {
  type CounterKey,
  counterId,
  type GiveBackRequest,
  type JoinRequest,
  type ListRange,
  type Look,
  type Mark,
  newMember,
  type NewSequence,
  type OpenOutcome,
  type PruneOutcome,
  type PruneRequest,
  type RaiseRequest,
  type Replacement,
  type SequenceStoreOptions,
  type LookNote,
  type ServerRow,
  type StopRequest,
  type TakeRequest,
  type WitnessRequest,
} from "../sequence-store.ts";
import type { TakeWitness, WitnessRows } from "../take-witness.ts";
import { ensureSchema, type SchemaRules } from "./migrations.ts";
import { markOf, moveWrites } from "./move-writes.ts";
import type { NamedValues } from "./named-values.ts";
import {
  neverRead,
  databaseOf,
  replacementValues,
  type SequenceRow,
  serverOf,
  storedOf,
  valuesOf,
} from "./sequence-row.ts";
import { countOf, lockPeriods, notePeriods } from "./sql-periods.ts";
import type { Row, SqlSession } from "./sql-session.ts";
import { type Dialect, keyValues, markValues, rangeValues, type Statements, writeStatements } from "./statements.ts";

/** The differences between databases. */
export interface SqlDriver<Connection> {
  readonly kind: "postgres" | "mysql";
  readonly database: SqlDatabase<Connection>;
  readonly schema: SchemaRules<Connection>;
  dialect(connection: Connection): Dialect;
  session(connection: Connection): SqlSession;
  /**
   * Does some work in one transaction that commits durably, in which each statement sees everything that was committed
   * before it.
   */
  transact<R>(connection: Connection, work: () => Promise<R>): Promise<R>;
  /** Runs the statement of a take, durably. @returns The count after the take; undefined if nothing was taken. */
  take(connection: Connection, statement: string, values: NamedValues): Promise<bigint | undefined>;
  /** See isRefusedStatement, isLostRace and isDuplicateKey of the links. */
  isRefused(error: unknown): boolean;
  isLostRace(error: unknown): boolean;
  isDuplicate(error: unknown): boolean;
}

/** A connection in use. */
interface Use<Connection> {
  readonly connection: Connection;
  /** The number of the connection, from 1 on. */
  readonly line: number;
  readonly statements: Statements;
  readonly session: SqlSession;
}

/** A link, and how many calls it has in hand. */
interface Line<Connection> {
  readonly link: StoreLink<Connection>;
  readonly number: number;
  callCount: number;
}

/** The outcome of a call whose statement the server may refuse. */
type Attempt<R> = { readonly kind: "done"; readonly result: R } | { readonly kind: "again"; readonly error: unknown };

/** A range to be given back, and its caller. */
interface Return {
  readonly request: GiveBackRequest;
  readonly resolve: (isGiven: boolean) => void;
  readonly reject: (error: unknown) => void;
}

const connectionsDefault = 4;
/** The most ranges that one statement gives back. */
const returnsMax = 256;
/** The longest pause before a statement that lost a race is sent again. */
const pauseMaxMs = 50;

/**
 * Sequences in a database that is reached over a network. An {@link SqlDriver} holds the differences between kinds of
 * database.
 */
export class SqlSequences<Connection> implements MovableStore {
  readonly kind: "postgres" | "mysql";
  readonly #driver: SqlDriver<Connection>;
  readonly #namespace: string;
  readonly #callTimeoutMs: number;
  readonly #stripeCount: number | undefined;
  readonly #lines: readonly Line<Connection>[];
  /** By the expression of the identity: MySQL and MariaDB read different variables. */
  readonly #statements = new Map<string, Statements>();
  readonly #returns: Return[] = [];

  constructor(driver: SqlDriver<Connection>, options: SequenceStoreOptions) {
    const { namespace, callTimeoutMs, whereNew, connectionCount = connectionsDefault } = options;
    this.kind = driver.kind;
    this.#driver = driver;
    this.#namespace = namespace;
    this.#callTimeoutMs = callTimeoutMs;
    this.#stripeCount = options.stripeCount;
    const ensure = (connection: Connection): Promise<void> => ensureSchema(connection, driver.schema);
    const { names } = driver.schema;
    const tables = new MadeOnce({ kind: driver.kind, noun: "table", names, whereNew, make: ensure, check: ensure });
    this.#lines = Array.from({ length: connectionCount }, (_, index) => {
      return { link: driver.database.link(tables), number: index + 1, callCount: 0 };
    });
  }

  get lineCount(): number {
    return this.#lines.length;
  }

  async look(keys: readonly CounterKey[], processId = ""): Promise<Look> {
    const found = await this.#look(keys, processId);
    if (found.database !== undefined) return found;
    const values = this.#named({ stopped: "", ...newMember(this.#stripeCount) });
    await this.#change((statements, session) => session.run(statements.makeDatabase, values));
    return this.#look(keys, processId);
  }

  list({ afterName, prefix, count }: ListRange): Promise<readonly StoredSequence[]> {
    return this.#repeat(async ({ statements, session }) => {
      const rows = await session.all(statements.list(count), this.#named({ afterName, prefix }));
      return rows.map((row) => storedOf(row as unknown as SequenceRow, neverRead));
    });
  }

  async create({ stored, writeId }: NewSequence, revision: number): Promise<boolean> {
    const values = this.#named({ ...valuesOf(stored), writeId, revision });
    const work = async (statements: Statements, session: SqlSession): Promise<boolean> => {
      if ((await session.run(statements.create, values)) === 0) return false;
      return (await session.run(statements.createCounter, values)) === 1;
    };
    return this.#change(work, false);
  }

  async replace(replacement: Replacement, name: string): Promise<boolean> {
    const values = this.#named({ ...replacementValues(replacement), name });
    const { before, after } = replacement;
    const isForbidden = after.disabled && !before.disabled;
    return this.#change(async (statements, session) => {
      // The locks are taken in the same order as by takes.
      if (isForbidden) await session.all(statements.lockDatabase, values);
      if ((await session.run(statements.replace, values)) === 0) return false;
      if (isForbidden) await raiseEpoch(statements, session, values);
      return true;
    });
  }

  async take(request: TakeRequest, witness: TakeWitness): Promise<bigint | undefined> {
    const { name, periodKey, sequenceId, count, endCount, revision, writeId } = request;
    const usedCount = await this.#repeat(async ({ connection, line, statements }) => {
      const note = witness.begin(line);
      const { processId, before: noteBefore, after: noteAfter } = note;
      const counter = { name, periodKey, sequenceId, count, endCount, revision, writeId };
      const values = this.#named({ ...counter, processId, line, noteBefore, noteAfter });
      const used = await this.#driver.take(connection, statements.take, values);
      if (used !== undefined) witness.confirm(note);
      return used;
    });
    return usedCount === undefined ? undefined : usedCount - BigInt(count);
  }

  async beginPeriod({ name, periodKey, sequenceId, revision, writeId }: TakeRequest, startMs: number): Promise<number> {
    const values = this.#named({ name, periodKey, sequenceId, revision, writeId, startMs });
    return this.#change(async (statements, session) => {
      const { closedBefore, begunCount } = await lockPeriods(statements, session, values);
      const thereCount = await countOf(session, statements.countPeriods, values);
      if (thereCount < begunCount || periodKey < closedBefore) return Math.max(0, begunCount - thereCount);
      await session.run(statements.beginPeriod, values);
      await notePeriods(statements, session, values);
      return 0;
    });
  }

  prune({ name, before, mode }: PruneRequest): Promise<PruneOutcome> {
    const values = this.#named({ name, before });
    return this.#change(async (statements, session) => {
      await lockPeriods(statements, session, values);
      const newest = (await session.all(statements.newestPeriods, values)).map((row) => String(row["period_key"]));
      const count = await countOf(session, statements.countBefore, values);
      const reached = newest.find((key) => key < before);
      if (reached !== undefined) return { kind: "newest", key: reached };
      if (mode === "plan") return { kind: "pruned", count };
      await session.run(statements.deletePeriods, values);
      await session.run(statements.closePeriods, values);
      await notePeriods(statements, session, values);
      return { kind: "pruned", count };
    });
  }

  /**
   * Ranges that are given back at the same time share statements: with one each, many of them would exceed the time of
   * a call.
   */
  giveBack(request: GiveBackRequest): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    this.#returns.push({ request, resolve, reject });
    if (this.#returns.length === 1) setImmediate(() => void this.#giveBackAll());
    return promise;
  }

  async cover(marks: readonly Mark[], writeId: string): Promise<void> {
    const filled = filledUp(marks);
    const [last] = filled;
    if (last === undefined) return;
    const values = this.#named({ ...markValues(filled), writeId });
    await this.#change(async (statements, session) => {
      const madeCount = await session.run(statements.coverPeriods(filled.length), values);
      if (madeCount > 0) await session.run(statements.noteMorePeriods, values);
      await session.run(statements.coverCounters(filled.length), values);
    });
  }

  async raise(request: RaiseRequest, writeId: string): Promise<number | undefined> {
    if (request.kind === "all") {
      const values = this.#named({ count: request.count, writeId });
      return this.#change(async (statements, session) => {
        if ((await session.run(statements.raiseDatabase, values)) === 0) return undefined;
        await session.run(statements.recountPeriods, values);
        return session.run(statements.raiseAll, values);
      });
    }
    const { name, periodKey } = request.key;
    const key = { name, periodKey, writeId };
    const raised = request.kind === "by" ? { count: request.count } : { index: request.index };
    const values = this.#named({ ...key, ...raised, startMs: earliestStartMs(periodKey) });
    return this.#change(async (statements, session) => {
      await session.all(statements.lockDatabase, values);
      const madeCount = request.kind === "to" ? await session.run(statements.makeRaised, values) : 0;
      if (madeCount > 0 && periodKey !== "") await session.run(statements.noteMorePeriods, values);
      const raise = request.kind === "to" ? statements.raiseTo : statements.raiseBy;
      const raisedCount = madeCount + (await session.run(raise, values));
      if (raisedCount > 0) await raiseEpoch(statements, session, values);
      return raisedCount;
    });
  }

  async stop({ reason, revision, emptiesStock, by }: StopRequest): Promise<boolean> {
    const [empties, isAgain] = [emptiesStock ? 1 : 0, by === "operator" ? 1 : 0];
    const values = this.#named({ reason, revision, emptiesStock: empties, isAgain });
    return (await this.#change((statements, session) => session.run(statements.stop, values))) === 1;
  }

  open(): Promise<OpenOutcome> {
    const values = this.#named({});
    return this.#change(async (statements, session) => {
      await session.all(statements.lockDatabase, values);
      const names = (await session.all(statements.missing, values)).map((row) => String(row["name"]));
      if (names.length > 0) return { kind: "missing", names };
      const [database] = await session.all(statements.database, values);
      if (database === undefined || `${database["stopped"]}` === "") return { kind: "was-open" };
      const { move } = databaseOf(database);
      if (move !== "") return { kind: "moved", move };
      if ((await session.run(statements.open, values)) === 0) return { kind: "not-raised" };
      const [row] = await session.all(statements.database, values);
      return { kind: "opened", revision: Number(row?.["revision"]) };
    });
  }

  async join(request: JoinRequest): Promise<boolean> {
    const values = this.#named({ ...request });
    return (await this.#change((statements, session) => session.run(statements.join, values))) === 1;
  }

  counters({ name, periodKey }: CounterKey, count: number): Promise<readonly Mark[]> {
    const values = this.#named({ name, periodKey });
    return this.#repeat(async ({ statements, session }) =>
      (await session.all(statements.counters(count), values)).map(markOf),
    );
  }

  move(request: MoveRequest): Promise<boolean> {
    return this.#change(async (statements, session) => {
      await session.all(statements.lockDatabase, this.#named({}));
      const { condition, writes } = moveWrites(statements, request);
      const values = this.#named(condition.values);
      const isRead = condition.kind === "read";
      const { length } = isRead ? await session.all(condition.text, values) : { length: 0 };
      const count = isRead ? length : await session.run(condition.text, values);
      if (count === 0) return false;
      for (const write of writes) await session.run(write.text, this.#named(write.values));
      return true;
    });
  }

  async makeWitness({ rows, formerId, ...server }: WitnessRequest): Promise<void> {
    await this.#change(async (statements, session) => {
      // Either a move that stops the database sees these rows, or the takes see its stop.
      await session.all(statements.keepDatabase, this.#named({}));
      if (formerId !== "") await session.run(statements.dropWitness, this.#named({ processId: formerId }));
      for (const row of rows) await session.run(statements.makeWitness, this.#named({ ...server, ...row }));
    });
  }

  async noteLook(note: LookNote): Promise<boolean> {
    const values = this.#named({ ...note });
    return (await this.#change((statements, session) => session.run(statements.noteLook, values))) === 1;
  }

  servers(): Promise<readonly ServerRow[]> {
    return this.#repeat(async ({ statements, session }) =>
      (await session.all(statements.servers, this.#named({}))).map(serverOf),
    );
  }

  async dropWitness(processId: string, seenMs?: number): Promise<void> {
    await this.#change(async (statements, session) => {
      if (seenMs !== undefined) {
        const isUnseen = await session.run(statements.dropUnseen, this.#named({ processId, seenMs }));
        if (isUnseen === 0) return;
      }
      await session.run(statements.dropWitness, this.#named({ processId }));
    });
  }

  async close(): Promise<void> {
    for (const { link } of this.#lines) link.close();
  }

  /** One statement at a time on each connection, so that each has the full time of a call. */
  async #giveBackAll(): Promise<void> {
    const byRevision = Map.groupBy(this.#returns.splice(0), ({ request }) => request.revision);
    const waiting = [...byRevision.values()].flatMap((returns) => {
      const count = Math.ceil(returns.length / returnsMax);
      return Array.from({ length: count }, (_, at) => returns.slice(at * returnsMax, (at + 1) * returnsMax));
    });
    const untilMs = systemClock.monotonicMs() + this.#callTimeoutMs * 2;
    const work = async (): Promise<void> => {
      for (let some = waiting.shift(); some !== undefined; some = waiting.shift()) {
        try {
          if (systemClock.monotonicMs() > untilMs) throw this.#slow();
          await this.#giveBackSome(some);
        } catch (error) {
          // Closing does not wait for a database that does not answer: the other ranges become gaps as well.
          for (const { reject } of [...some, ...waiting.splice(0).flat()]) reject(error);
        }
      }
    };
    await Promise.all(this.#lines.map(work));
  }

  /** @param returns - At least one; all of one revision. */
  async #giveBackSome(returns: readonly Return[]): Promise<void> {
    const ranges = filledUp(returns.map(({ request }) => request));
    const { revision, newWriteId } = ranges[0]!;
    const values = this.#named({ ...rangeValues(ranges), revision, newWriteId });
    const rows = await this.#change(async (statements, session) => {
      const count = await session.run(statements.giveBack(ranges.length), values);
      if (count === 0 || count === returns.length) return count === 0 ? "none" : "all";
      return session.all(statements.written(ranges.length), values);
    });
    if (typeof rows === "string") return returns.forEach(({ resolve }) => resolve(rows === "all"));
    const given = new Set(rows.map((row) => `${row["used_count"]} ${row["name"]} ${row["period_key"]}`));
    for (const { request, resolve } of returns) {
      resolve(given.delete(`${request.firstIndex} ${request.name} ${request.periodKey}`));
    }
  }

  #slow(): IdError {
    const message = `The ${this.kind} store took too long to take back the earlier ranges.`;
    return new IdError("STORE_UNAVAILABLE", message, { metadata: { store: this.kind } });
  }

  #look(keys: readonly CounterKey[], processId: string): Promise<Look> {
    const filled = filledUp(keys);
    const values = this.#named(keyValues(filled));
    return this.#repeat(async ({ statements, session }) => {
      const rows = await session.all(statements.look(filled.length), values);
      const lines = processId === "" ? [] : await session.all(statements.witness, this.#named({ processId }));
      return { ...lookOf(rows), witness: witnessOf(lines) };
    });
  }

  #named(values: NamedValues): NamedValues {
    return { namespace: this.#namespace, ...values };
  }

  /** Does some work in one transaction. @param ifThere - The result if an INSERT finds a row with the same key. */
  #change<R>(work: (statements: Statements, session: SqlSession) => Promise<R>, ifThere?: R): Promise<R> {
    return this.#repeat(async ({ connection, statements, session }) => {
      try {
        return await this.#driver.transact(connection, () => work(statements, session));
      } catch (error) {
        if (ifThere !== undefined && this.#driver.isDuplicate(error)) return ifThere;
        throw error;
      }
    });
  }

  /**
   * Does some work, and repeats it while the server reports that it did not happen because of concurrent transactions.
   * Nothing is sent again after half of a call's time, so that a call ends within one and a half times its limit.
   */
  async #repeat<R>(work: (use: Use<Connection>) => Promise<R>): Promise<R> {
    const untilMs = systemClock.monotonicMs() + this.#callTimeoutMs / 2;
    for (let attemptCount = 1; ; attemptCount += 1) {
      const attempt = await this.#attempt(work);
      if (attempt.kind === "done") return attempt.result;
      if (systemClock.monotonicMs() >= untilMs) throw attempt.error;
      await delay(systemTimers, Math.random() * Math.min(2 ** attemptCount, pauseMaxMs));
    }
  }

  /** Does some work once, over the connection with the fewest calls. @throws IdError: all but a lost race. */
  async #attempt<R>(work: (use: Use<Connection>) => Promise<R>): Promise<Attempt<R>> {
    const line = this.#lines.reduce((least, other) => (other.callCount < least.callCount ? other : least));
    line.callCount += 1;
    try {
      return await line.link.call(async (connection): Promise<Attempt<R>> => {
        try {
          return { kind: "done", result: await work(this.#use(connection, line.number)) };
        } catch (error) {
          // A refused statement has not changed the state of the connection.
          if (this.#driver.isLostRace(error)) return { kind: "again", error: line.link.refusal(error) };
          if (this.#driver.isRefused(error)) throw line.link.refusal(error);
          throw error;
        }
      });
    } finally {
      line.callCount -= 1;
    }
  }

  #use(connection: Connection, line: number): Use<Connection> {
    const dialect = this.#driver.dialect(connection);
    let statements = this.#statements.get(dialect.identity);
    if (statements === undefined) {
      statements = writeStatements(dialect);
      this.#statements.set(dialect.identity, statements);
    }
    return { connection, line, statements, session: this.#driver.session(connection) };
  }
}

async function raiseEpoch(statements: Statements, session: SqlSession, values: NamedValues): Promise<void> {
  await session.run(statements.raiseEpoch, values);
  await session.run(statements.takeEpoch, values);
}

/** Repeats the last entry up to a power of two: a driver that keeps prepared statements then keeps few of them. */
function filledUp<T>(list: readonly T[]): readonly T[] {
  const last = list.at(-1);
  if (last === undefined) return [];
  const size = 2 ** Math.ceil(Math.log2(list.length));
  return [...list, ...Array.from({ length: size - list.length }, () => last)];
}

function lookOf(rows: readonly Row[]): Omit<Look, "witness"> {
  const [first] = rows;
  if (first === undefined) throw new Error("it answers a look with nothing");
  const sequences = new Map<string, StoredSequence>();
  const counters = new Map<string, bigint>();
  const lowered = new Map<string, bigint>();
  const database = first["identity"] === null ? undefined : databaseOf(first);
  for (const row of rows) {
    const { key_name: name, key_period: periodKey, used_count: usedCount } = row;
    if (name === undefined) continue;
    if (row["sequence_id"] !== null) {
      sequences.set(
        String(name),
        storedOf({ ...row, name } as unknown as SequenceRow, database?.revision ?? neverRead),
      );
    }
    if (usedCount !== null) {
      const id = counterId({ name: String(name), periodKey: String(periodKey) });
      const [used, taken] = [BigInt(usedCount!), BigInt(row["taken_count"]!)];
      counters.set(id, used);
      if (used < taken) lowered.set(id, taken);
    }
  }
  const clockMs = Number(first["clock_ms"]);
  return { database, identity: String(first["identity_now"]), clockMs, sequences, counters, lowered };
}

function witnessOf(rows: readonly Row[]): WitnessRows {
  return new Map(rows.map((row) => [Number(row["line"]), String(row["write_id"])]));
}
