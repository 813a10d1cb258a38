import { kernelRandom128 } from "../kernel-random.ts";
import type { StoreOptions } from "../store/record-store.ts";
import type { SequenceDefinition, StoredSequence } from "./sequence.ts";
import type { Note, TakeWitness, WitnessRows } from "./take-witness.ts";

/** A counter: one of each sequence has an empty period key. */
export interface CounterKey {
  readonly name: string;
  readonly periodKey: string;
}

/** The state of the database as a database of sequences, one a namespace. */
export interface DatabaseRow {
  /** Of the database when it was opened last, as store-identity.ts writes it. */
  readonly identity: string;
  /** Why nobody may take values; empty = they may. */
  readonly stopped: string;
  /**
   * Grows with each stop by one, and with each opening to the database's clock in milliseconds at least. So two
   * histories that part from one copy never open under the same number, and an opening is above all before it.
   */
  readonly revision: number;
  /** From when on values may be taken, by the database's clock: Unix milliseconds. */
  readonly openMs: number;
  /** Grows with each change that forbids or leaves out values: what servers hold of an older one goes. */
  readonly epoch: number;
  /** The revision of the last stop after which servers drop all that they hold; -1 = there was none. */
  readonly emptiedRevision: number;
  /** `to PLACE ID`: it was moved away for good. `from PLACE ID`: it is being copied here. Empty = neither. */
  readonly move: string;
  /** By how much all counters were raised, those too that will be made. */
  readonly raisedCount: bigint;
  /** Until when periods may begin whose lost counters begin at {@link raisedCount}: Unix milliseconds. */
  readonly raisedUntilMs: number;
  readonly member: Member;
}

/** The database as one of several: what its row says. {@link StripeSet} decides by it. */
export interface Member {
  /** 32 hex digits, drawn when the database was made. */
  readonly storeId: string;
  /** Of its stripe; -1 = it has none yet. */
  readonly index: number;
  /** How many stripes there are: fixed when the database was made. */
  readonly count: number;
  /** The databases, in the order of their stripes, as {@link StripeSet} writes them; empty = it has none yet. */
  readonly members: string;
}

/** Gives a database its stripe, or tells it of more databases, by comparison. */
export interface JoinRequest {
  readonly storeId: string;
  readonly before: string;
  readonly after: string;
  readonly index: number;
}

/** What a database says about sequences at one moment. */
export interface Look {
  /** Undefined where the row is gone. */
  readonly database: DatabaseRow | undefined;
  /** Of the database that answered. */
  readonly identity: string;
  /** The database's clock, in Unix milliseconds. */
  readonly clockMs: number;
  /** Those that were asked for, by name. */
  readonly sequences: ReadonlyMap<string, StoredSequence>;
  /** How many values were taken of each counter, by {@link counterId}. A counter that is absent has no row. */
  readonly counters: ReadonlyMap<string, bigint>;
  /** The counters that stand below what was taken of them, with that. */
  readonly lowered: ReadonlyMap<string, bigint>;
  /** The witness rows of the process that was named. */
  readonly witness: WitnessRows;
}

/** A process, as one of its rows shows it. */
export interface ServerRow {
  readonly processId: string;
  /** The name that it gave itself. */
  readonly server: string;
  /** When it looked last, by the database's clock: Unix milliseconds. */
  readonly seenMs: number;
  /** It holds nothing of an older epoch. */
  readonly epoch: number;
}

/** The rows of a process that are made before its first take. */
export interface WitnessRequest extends ServerRow {
  readonly rows: TakeWitness["firstRows"];
  /** The process_id under which it was known before; empty = under none. */
  readonly formerId: string;
}

/** What a look writes into the line of the looks. */
export type LookNote = Note & Pick<ServerRow, "seenMs" | "epoch">;

/** A take: values that nobody else will get. */
export interface TakeRequest extends CounterKey {
  readonly sequenceId: string;
  /** 1 to 2^30. */
  readonly count: number;
  /** How many values there are; the last take may reach beyond it. */
  readonly endCount: bigint;
  readonly revision: number;
  /** 128 random bits, new for each take. */
  readonly writeId: string;
}

/** A range that goes back, if its take is still the last write to the counter. */
export interface GiveBackRequest extends CounterKey {
  readonly sequenceId: string;
  readonly firstIndex: bigint;
  /** Exclusive: where the counter stands. */
  readonly endIndex: bigint;
  /** Of the take that ended there. */
  readonly writeId: string;
  readonly newWriteId: string;
  readonly revision: number;
}

/** How far a process has taken a counter. */
export interface Mark extends CounterKey {
  /** Exclusive. */
  readonly index: bigint;
}

/** A sequence to be made. */
export interface NewSequence {
  readonly stored: Omit<StoredSequence, "epoch" | "revision" | "closedBefore" | "begunCount">;
  readonly writeId: string;
}

/** Which counters of periods go. */
export interface PruneRequest {
  readonly name: string;
  /** The key of the first period that stays. */
  readonly before: string;
  /** `plan` writes nothing. */
  readonly mode: "write" | "plan";
}

/** The outcome of a pruning: how many counters went, or that it would have reached the two newest ones. */
export type PruneOutcome =
  | { readonly kind: "pruned"; readonly count: number }
  | { readonly kind: "newest"; readonly key: string };

/** An update by comparison. */
export interface Replacement {
  readonly sequenceId: string;
  readonly before: SequenceDefinition;
  readonly after: SequenceDefinition;
  /** Unix milliseconds. */
  readonly updatedMs: number;
}

/** How a page of sequences is chosen: in order of the names' bytes. */
export interface ListRange {
  readonly afterName: string;
  readonly prefix: string;
  /** At least 1. */
  readonly count: number;
}

/**
 * How counters are raised: those of one sequence to or by a number, or every one by a number, which is allowed only
 * while the database is stopped. Never downward; each ends at 2^63 - 1.
 */
export type RaiseRequest =
  /** Makes the counter where it is missing. */
  | { readonly kind: "to"; readonly key: CounterKey; readonly index: bigint }
  | { readonly kind: "by"; readonly key: CounterKey; readonly count: bigint }
  | { readonly kind: "all"; readonly count: bigint };

/**
 * The outcome of an opening. `missing` names sequences without a counter, at most ten of them; `was-open`: the database
 * was not stopped, and nothing was changed; `not-raised`: its counters were not raised since it was stopped; `moved`:
 * it was moved away, or a copy to it has not ended.
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
  /** The revision that is stopped; it must still stand. */
  readonly revision: number;
  /** Whether servers drop what they hold: values on both sides of a loss may lie in memory. */
  readonly emptiesStock: boolean;
  /** `operator` stops a database that is stopped, too: it gets a new revision, and asks for a raise again. */
  readonly by: "server" | "operator";
}

/** Options of every database of sequences. */
export interface SequenceStoreOptions extends StoreOptions {
  /** How many connections are made to a remote database at most: 1 to 64, 4 if not said. */
  readonly connectionCount?: number | undefined;
  /** How many stripes a database gets that is made: 1 to 64, 1 if not said. */
  readonly stripeCount?: number | undefined;
}

/**
 * Keeps the definitions and counters of one namespace in one database.
 *
 * Every call ends within its deadline, and is one transaction. A call that throws STORE_UNAVAILABLE may have been done.
 * A counter only rises, but for {@link giveBack}. None of the calls decides anything: sequence-database.ts does.
 */
export interface SequenceStore {
  readonly kind: "sqlite" | "postgres" | "mysql";
  /** How many connections take values, each with a line of its own in a {@link TakeWitness}. */
  readonly lineCount: number;
  /**
   * Makes the database where the database never had one.
   *
   * @param processId - Whose witness rows are read as well; empty = nobody's.
   */
  look(keys: readonly CounterKey[], processId?: string): Promise<Look>;
  /** Lists sequences by name. */
  list(range: ListRange): Promise<readonly StoredSequence[]>;
  /**
   * Makes a sequence, and its counter where the database's raised count stands.
   *
   * @returns Whether it did: not if the name is taken, or the database is stopped, of another revision or identity.
   */
  create(sequence: NewSequence, revision: number): Promise<boolean>;
  /**
   * Replaces a definition; where it becomes disabled, under a new epoch.
   *
   * @returns Whether it did: not if another one stands there.
   */
  replace(replacement: Replacement, name: string): Promise<boolean>;
  /**
   * Takes values, and writes that down in the witness row of the line: one statement, one round trip.
   *
   * @returns The first index; undefined = nothing was taken, and {@link look} tells why.
   */
  take(request: TakeRequest, witness: TakeWitness): Promise<bigint | undefined>;
  /**
   * Makes the counter of a period where there is none, under the conditions of a take. Makes none of a period that was
   * pruned, nor while counters of others are missing.
   *
   * @param startMs - The earliest moment at which the period begins anywhere: nothing is made if that is more than a
   * day ahead of the database's clock.
   * @returns How many periods that were begun have lost their counter.
   */
  beginPeriod(request: TakeRequest, startMs: number): Promise<number>;
  /** Deletes the counters of old periods, and closes these for ever. */
  prune(request: PruneRequest): Promise<PruneOutcome>;
  /** Lowers a counter, under the conditions of a take. To be sent once, never again. @returns Whether it did. */
  giveBack(request: GiveBackRequest): Promise<boolean>;
  /**
   * Raises counters to marks. Makes one that is missing only for a period that a raise of all covers, no lower than
   * such a period begins: any other was lost, and others may have taken more of it than this process.
   *
   * @param marks - At most 1,000.
   */
  cover(marks: readonly Mark[], writeId: string): Promise<void>;
  /**
   * Raises counters; one of a sequence gives that a new epoch.
   *
   * @returns How many counters it raised; undefined = all were to be, and the database is not stopped.
   */
  raise(request: RaiseRequest, writeId: string): Promise<number | undefined>;
  /** Stops the database. @returns Whether it did. */
  stop(request: StopRequest): Promise<boolean>;
  /** Opens the database, 30 s ahead by the database's clock, if it was raised since it was stopped. */
  open(): Promise<OpenOutcome>;
  /** Makes the witness rows of a process, where they are not there, and deletes those of its former ID. */
  makeWitness(request: WitnessRequest): Promise<void>;
  /** Writes that a process has looked. @returns Whether it did: not if another write stands there. */
  noteLook(note: LookNote): Promise<boolean>;
  /** Lists the processes that have witness rows. */
  servers(): Promise<readonly ServerRow[]>;
  /** Deletes the witness rows of a process, if it has not looked since `seenMs`; undefined = in any case. */
  dropWitness(processId: string, seenMs?: number): Promise<void>;
  /** Gives the database its stripe. @returns Whether it did: not if its members are others by now. */
  join(request: JoinRequest): Promise<boolean>;
  close(): Promise<void>;
}

/** What a new database says of itself as one of several; with one stripe it has that from the beginning. */
export function newMember(stripeCount = 1) {
  return { storeId: kernelRandom128(), stripeIndex: stripeCount === 1 ? 0 : -1, stripeCount };
}

/** The key of a counter in a map: without a period the name itself, which needs no text of its own. */
export function counterId({ name, periodKey }: CounterKey): string {
  // Neither part holds a line feed.
  return periodKey === "" ? name : `${name}\n${periodKey}`;
}

/** The counters to look at for one: its own, and the one that shows that nothing was emptied. */
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
/** How far ahead of the database's clock a database is opened, so that every server can cover its marks before. */
export const openAheadMs = 30_000;
/** A time of opening that is further ahead than this counts as passed: the database's clock was set back since. */
export const openAheadMaxMs = 60_000;
/** How far ahead of the database's clock a period may begin, at the earliest, for which a counter is made. */
export const periodAheadMaxMs = 86_400_000;
/** How far ahead of the database's clock a raise of all reaches, for periods whose rows were lost. */
export const raisedAheadMs = 172_800_000;
