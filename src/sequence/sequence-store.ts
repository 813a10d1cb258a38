import { kernelRandom128 } from "../kernel-random.ts";
import type { StoreOptions } from "../store/record-store.ts";
import type { SequenceDefinition, StoredSequence } from "./sequence.ts";
import type { Note, TakeWitness, WitnessRows } from "./take-witness.ts";

/** The key of a counter. Each sequence has one counter with an empty period key. */
export interface CounterKey {
  readonly name: string;
  readonly periodKey: string;
}

/** The state of a database of sequences: one row for each namespace. */
export interface DatabaseRow {
  /** The identity of the database when it was last opened, as store-identity.ts writes it. */
  readonly identity: string;
  /** Why no process may take values; empty if they may. */
  readonly stopped: string;
  /**
   * Grows by one with each stop, and with each opening at least to the database's clock in milliseconds. So two
   * histories that diverge from one copy never open under the same number, and an opening has a higher number than
   * everything before it.
   */
  readonly revision: number;
  /** The time from which values may be taken, by the database's clock: Unix milliseconds. */
  readonly openMs: number;
  /**
   * Grows with each change that forbids or leaves out values: servers drop the values that they hold of an older epoch.
   */
  readonly epoch: number;
  /** The revision of the last stop after which servers drop all values that they hold; -1 if there was none. */
  readonly emptiedRevision: number;
  /** `to PLACE ID`: it was moved away permanently. `from PLACE ID`: it is being copied here. Empty: neither. */
  readonly move: string;
  /** By how much all counters were raised, including those that will be created later. */
  readonly raisedCount: bigint;
  /** Lost counters of periods that begin before this time start at {@link raisedCount}: Unix milliseconds. */
  readonly raisedUntilMs: number;
  readonly member: Member;
}

/** The part of a database's row that describes it as one of several databases. {@link StripeSet} decides by it. */
export interface Member {
  /** 32 hex digits, drawn when the database was made. */
  readonly storeId: string;
  /** The index of its stripe; -1 if it has none yet. */
  readonly index: number;
  /** How many stripes there are; fixed when the database was created. */
  readonly count: number;
  /** The databases, in the order of their stripes, as {@link StripeSet} writes them; empty if it has no list yet. */
  readonly members: string;
}

/** Gives a database its stripe, or a longer list of databases, by compare-and-set. */
export interface JoinRequest {
  readonly storeId: string;
  readonly before: string;
  readonly after: string;
  readonly index: number;
}

/** The state of a database and of some sequences at one moment. */
export interface Look {
  /** Undefined if the row is gone. */
  readonly database: DatabaseRow | undefined;
  /** The identity of the database that answered. */
  readonly identity: string;
  /** The database's clock, in Unix milliseconds. */
  readonly clockMs: number;
  /** The sequences that were asked for, by name. */
  readonly sequences: ReadonlyMap<string, StoredSequence>;
  /** How many values were taken from each counter, by {@link counterId}. An absent counter has no row. */
  readonly counters: ReadonlyMap<string, bigint>;
  /** The counters that are below the number of values taken from them, with that number. */
  readonly lowered: ReadonlyMap<string, bigint>;
  /** The witness rows of the process named in the call. */
  readonly witness: WitnessRows;
}

/** A process, as one of its rows shows it. */
export interface ServerRow {
  readonly processId: string;
  /** The name that it gave itself. */
  readonly server: string;
  /** When it last looked, by the database's clock: Unix milliseconds. */
  readonly seenMs: number;
  /** The process holds no values of an older epoch. */
  readonly epoch: number;
}

/** The rows of a process that are created before its first take. */
export interface WitnessRequest extends ServerRow {
  readonly rows: TakeWitness["firstRows"];
  /** The former process_id of this process; empty if it had none. */
  readonly formerId: string;
}

/** The write of a look to the row of line 0, which is reserved for looks. */
export type LookNote = Note & Pick<ServerRow, "seenMs" | "epoch">;

/** A take of values that no other process will get. */
export interface TakeRequest extends CounterKey {
  readonly sequenceId: string;
  /** 1 to 2^30. */
  readonly count: number;
  /** How many values the counter has in all; the last take may reach beyond that. */
  readonly endCount: bigint;
  readonly revision: number;
  /** 128 random bits, new for each take. */
  readonly writeId: string;
}

/** A range to be given back, if its take is still the last write to the counter. */
export interface GiveBackRequest extends CounterKey {
  readonly sequenceId: string;
  readonly firstIndex: bigint;
  /** The end of the range, exclusive: the present value of the counter. */
  readonly endIndex: bigint;
  /** The writeId of the take that ended there. */
  readonly writeId: string;
  readonly newWriteId: string;
  readonly revision: number;
}

/** How far a process has taken values from a counter. */
export interface Mark extends CounterKey {
  /** Exclusive. */
  readonly index: bigint;
}

/** A sequence to be created. */
export interface NewSequence {
  readonly stored: Omit<StoredSequence, "epoch" | "revision" | "closedBefore" | "begunCount">;
  readonly writeId: string;
}

/** The counters of periods that are to be deleted. */
export interface PruneRequest {
  readonly name: string;
  /** The key of the first period that stays. */
  readonly before: string;
  /** `plan` writes nothing. */
  readonly mode: "write" | "plan";
}

/** The outcome of a pruning: how many counters were deleted, or that it would have reached the two newest ones. */
export type PruneOutcome =
  | { readonly kind: "pruned"; readonly count: number }
  | { readonly kind: "newest"; readonly key: string };

/** An update of a definition by compare-and-set. */
export interface Replacement {
  readonly sequenceId: string;
  readonly before: SequenceDefinition;
  readonly after: SequenceDefinition;
  /** Unix milliseconds. */
  readonly updatedMs: number;
}

/** The choice of a page of sequences, in the order of their names' bytes. */
export interface ListRange {
  readonly afterName: string;
  readonly prefix: string;
  /** At least 1. */
  readonly count: number;
}

/**
 * How counters are raised: those of one sequence to or by a number, or all of them by a number, which is allowed only
 * while the database is stopped. A counter is never lowered, and never raised above 2^63 - 1.
 */
export type RaiseRequest =
  /** Creates the counter if it is missing. */
  | { readonly kind: "to"; readonly key: CounterKey; readonly index: bigint }
  | { readonly kind: "by"; readonly key: CounterKey; readonly count: bigint }
  | { readonly kind: "all"; readonly count: bigint };

/**
 * The outcome of an opening. `missing` names sequences without a counter, at most ten of them; `was-open`: the database
 * was not stopped, and nothing was changed; `not-raised`: its counters were not raised since it was stopped; `moved`:
 * it was moved away, or a copy to it is not complete.
 */
export type OpenOutcome =
  | { readonly kind: "was-open" }
  | { readonly kind: "not-raised" }
  | { readonly kind: "moved"; readonly move: string }
  | { readonly kind: "opened"; readonly revision: number }
  | { readonly kind: "missing"; readonly names: readonly string[] };

/** A stop. */
export interface StopRequest {
  readonly reason: string;
  /** The revision that is stopped; it must still be the present one. */
  readonly revision: number;
  /** Whether servers drop the values that they hold, because values from before and after a loss may be in memory. */
  readonly emptiesStock: boolean;
  /** `operator` also stops a database that is stopped already: it gets a new revision, and requires another raise. */
  readonly by: "server" | "operator";
}

/** Options of every database of sequences. */
export interface SequenceStoreOptions extends StoreOptions {
  /** The most connections to a remote database: 1 to 64. Default: 4. */
  readonly connectionCount?: number | undefined;
  /** The number of stripes of a database that is created: 1 to 64. Default: 1. */
  readonly stripeCount?: number | undefined;
}

/**
 * Keeps the definitions and counters of one namespace in one database.
 *
 * Every call ends within its deadline, and is one transaction. A call that throws STORE_UNAVAILABLE may have taken
 * effect. Only {@link giveBack} lowers a counter. No call decides anything by itself: sequence-database.ts does.
 */
export interface SequenceStore {
  readonly kind: "sqlite" | "postgres" | "mysql";
  /** How many connections take values, each with a line of its own in a {@link TakeWitness}. */
  readonly lineCount: number;
  /**
   * Reads the state of the database; creates the database if it never existed.
   *
   * @param processId - The process whose witness rows are read as well; empty for none.
   */
  look(keys: readonly CounterKey[], processId?: string): Promise<Look>;
  /** Lists sequences by name. */
  list(range: ListRange): Promise<readonly StoredSequence[]>;
  /**
   * Creates a sequence, and its counter at the database's raised count.
   *
   * @returns Whether it was done; false if the name is taken, or if the database is stopped or has another revision or
   * identity.
   */
  create(sequence: NewSequence, revision: number): Promise<boolean>;
  /**
   * Replaces a definition; if it becomes disabled, under a new epoch.
   *
   * @returns Whether it was done; false if the definition is another one by now.
   */
  replace(replacement: Replacement, name: string): Promise<boolean>;
  /**
   * Takes values, and notes the take in the witness row of the line, in one round trip.
   *
   * @returns The first index; undefined if nothing was taken: {@link look} then shows why.
   */
  take(request: TakeRequest, witness: TakeWitness): Promise<bigint | undefined>;
  /**
   * Creates the counter of a period if there is none, under the conditions of a take. Creates none for a period that
   * was pruned, or while counters of other periods are missing.
   *
   * @param startMs - The earliest moment at which the period begins anywhere: nothing is created if that is more than a
   * day ahead of the database's clock.
   * @returns How many periods have lost their counter.
   */
  beginPeriod(request: TakeRequest, startMs: number): Promise<number>;
  /** Deletes the counters of old periods, and closes those periods permanently. */
  prune(request: PruneRequest): Promise<PruneOutcome>;
  /** Lowers a counter, under the conditions of a take. To be sent only once. @returns Whether it was done. */
  giveBack(request: GiveBackRequest): Promise<boolean>;
  /**
   * Raises counters to marks. Creates a missing counter only for a period that a raise of all covers, and no lower than
   * such a period begins. Any other missing counter was lost, and other processes may have taken more from it than this
   * one.
   *
   * @param marks - At most 1,000.
   */
  cover(marks: readonly Mark[], writeId: string): Promise<void>;
  /**
   * Raises counters; raising those of one sequence gives that sequence a new epoch.
   *
   * @returns How many counters were raised; undefined if all were to be raised, but the database is not stopped.
   */
  raise(request: RaiseRequest, writeId: string): Promise<number | undefined>;
  /** Stops the database. @returns Whether it was done. */
  stop(request: StopRequest): Promise<boolean>;
  /** Opens the database in 30 s by its clock, if it was raised since it was stopped. */
  open(): Promise<OpenOutcome>;
  /** Creates the witness rows of a process if they are missing, and deletes those of its former ID. */
  makeWitness(request: WitnessRequest): Promise<void>;
  /** Notes that a process has looked. @returns Whether it was done; false if the row holds another write. */
  noteLook(note: LookNote): Promise<boolean>;
  /** Lists the processes that have witness rows. */
  servers(): Promise<readonly ServerRow[]>;
  /** Deletes the witness rows of a process, if it has not looked since `seenMs`; undefined = in any case. */
  dropWitness(processId: string, seenMs?: number): Promise<void>;
  /** Gives the database its stripe. @returns Whether it was done; false if its list of members has changed. */
  join(request: JoinRequest): Promise<boolean>;
  close(): Promise<void>;
}

/** The membership of a new database among several; with one stripe it has that stripe from the beginning. */
export function newMember(stripeCount = 1) {
  return { storeId: kernelRandom128(), stripeIndex: stripeCount === 1 ? 0 : -1, stripeCount };
}

/** The key of a counter in a map: without a period it is the name itself, so that no new string is made. */
export function counterId({ name, periodKey }: CounterKey): string {
  // Neither part contains a line feed.
  return periodKey === "" ? name : `${name}\n${periodKey}`;
}

/** The counters to look at for one counter: itself, and the one that shows that the table was not emptied. */
export function keysOf({ name, periodKey }: CounterKey): readonly CounterKey[] {
  return periodKey === ""
    ? [{ name, periodKey }]
    : [
        { name, periodKey: "" },
        { name, periodKey },
      ];
}

/** The most keys of one look, and the most marks of one cover. */
export const keysMax = 1_000;
/** How far ahead of its own clock a database is opened, so that every server can write its marks before. */
export const openAheadMs = 30_000;
/** A time of opening that is further ahead than this is treated as past: the database's clock was set back since. */
export const openAheadMaxMs = 60_000;
/** How far ahead of the database's clock a period may begin, at the earliest, for which a counter is made. */
export const periodAheadMaxMs = 86_400_000;
/** How far ahead of the database's clock a raise of all reaches, for periods whose rows were lost. */
export const raisedAheadMs = 172_800_000;
