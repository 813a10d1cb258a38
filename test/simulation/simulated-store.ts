import { IdError } from "../../src/errors.ts";
import type {
  Entry,
  Liveness,
  ListAnswer,
  ReadAnswer,
  RecordStore,
  StoreMoment,
  StoreTiming,
  WriteAnswer,
} from "../../src/store/record-store.ts";
import { identityOf, systemPart } from "../../src/store/store-identity.ts";
import type { DangerWatch } from "./danger-watch.ts";
import type { EventQueue } from "./event-queue.ts";
import type { SeededRandom } from "./seeded-random.ts";
import type { SimulatedMachine } from "./simulated-machine.ts";
import type { StoreModel } from "./store-model.ts";

/** The kind of store that is simulated. */
export interface StoreTraits {
  readonly durability: "durable" | "lossy";
  readonly hasClock: boolean;
  readonly liveness: "ttl" | "lock";
  readonly timing: StoreTiming;
  readonly model: StoreModel;
}

/** All that the server keeps. */
interface StoredState {
  readonly rows: Map<string, string>;
  /** How many writes were applied before. */
  readonly position: bigint;
}

/** Told of a record in an answer: what it shows may be undone, or is confirmed. */
export type OnRecord = (entry: Entry, how: "shown" | "confirmed") => void;

/** How the way between a process and the store behaves just now. */
export interface LinkState {
  /** One way, in milliseconds: from 0 to so much. */
  delayMaxMs: number;
  /** Share of requests and of answers that never arrive. */
  lossRate: number;
  /** Share of write requests that arrive twice. */
  duplicateRate: number;
  isCut: boolean;
}

/** How many writes a store that lost its last ones may have lost. */
const recentMax = 8;

/**
 * The server: records, which it compares by their texts as every store does (docs/adr/0061), and the ways in which it
 * may fail. It tells `onApplied` of what it confirms, for the checker, whatever is lost later.
 */
export class SimulatedServer {
  readonly traits: StoreTraits;
  readonly #queue: EventQueue;
  readonly #random: SeededRandom;
  readonly #machine: SimulatedMachine;
  #rows = new Map<string, string>();
  #position = 1n;
  #system = "first";
  #history = "first";
  #startedMs: number;
  #wasEverEmptied = false;
  /** Earlier states, the newest last: what a backup or a lagging replica may hold. */
  readonly #past: StoredState[] = [];
  /** The same, of the last few writes. */
  readonly #recent: StoredState[] = [];
  #nextPastMs = 0;
  isDown = false;
  /** Answers nothing, and does everything later: a frozen server. */
  #frozen: (() => void)[] | undefined;
  /**
   * A primary that has lost its majority: it applies writes, confirms none, and all of them are discarded when it is
   * healed.
   */
  isMinority = false;
  #beforeSplit: StoredState | undefined;
  /** Which process holds which lock. */
  readonly locks = new Map<string, object>();
  /** Told of every write that was applied. */
  onApplied: (key: string, text: string) => void = () => {};

  constructor(queue: EventQueue, random: SeededRandom, machine: SimulatedMachine, traits: StoreTraits) {
    this.#queue = queue;
    this.#random = random;
    this.#machine = machine;
    this.traits = traits;
    this.#startedMs = machine.nowMs();
  }

  /** Runs `operation` when the server gets to it; nothing at all while it is down. */
  receive(operation: () => void): void {
    if (this.isDown) return;
    if (this.#frozen !== undefined) this.#frozen.push(operation);
    else operation();
  }

  freeze(): void {
    this.#frozen ??= [];
  }

  unfreeze(): void {
    const waiting = this.#frozen ?? [];
    this.#frozen = undefined;
    for (const operation of waiting) operation();
  }

  moment(): StoreMoment {
    const { hasClock, model } = this.traits;
    const { tellsStart, emptyMeans, hasPosition } = model;
    const identity = identityOf({ [systemPart]: this.#system, history: this.#history });
    const isEmptyLost = emptyMeans === "lost, once it was emptied" ? this.#wasEverEmptied : emptyMeans === "lost";
    return {
      clockMs: hasClock ? this.#machine.nowMs() : undefined,
      incarnation: {
        identity,
        startedMs: tellsStart ? this.#startedMs : undefined,
        emptyMeans: isEmptyLost ? "lost" : "new",
      },
      ...(hasPosition ? { position: { log: identity, at: this.#position } } : {}),
    };
  }

  /** The text under each key. */
  get rows(): ReadonlyMap<string, string> {
    return this.#rows;
  }

  list(): ListAnswer {
    return { entries: [...this.#rows].map(([key, text]) => ({ key, text })), moment: this.moment() };
  }

  read(key: string): ReadAnswer {
    const text = this.#rows.get(key);
    return { entry: text === undefined ? undefined : { key, text }, moment: this.moment() };
  }

  compareAndSet(key: string, expected: Entry | undefined, next: string): WriteAnswer {
    if (this.#rows.get(key) !== expected?.text) return { kind: "conflict", moment: this.moment() };
    this.#keepPast();
    this.#rows.set(key, next);
    this.#position += 1n;
    if (!this.isMinority) this.onApplied(key, next);
    return { kind: "applied", entry: { key, text: next }, moment: this.moment() };
  }

  /** Everything is gone, as after FLUSHALL: the incarnation's record goes with the rest. */
  wipe(): void {
    this.#rows = new Map();
    this.#wasEverEmptied = true;
  }

  /**
   * Back to an earlier state under a server that says that it is another one: a restored backup, a replica that took
   * over.
   */
  goBack(): void {
    // Mostly not far back: to what a backup of just now, or a replica that lags, would hold.
    const states = this.#random.chance(0.6) ? this.#recent : this.#past;
    if (states.length > 0) this.#restore(this.#random.pick(states));
    // Half of the older copies come back under the server's own name where its start shows them.
    this.restart(this.traits.model.restartsOnOlderCopy && this.#random.chance(0.5) ? "same" : "another");
  }

  /**
   * Back to an earlier state, and nothing that the server says of itself shows it.
   *
   * @returns The texts that were there before.
   */
  goBackUnseen(): ReadonlyMap<string, string> {
    const before = this.#rows;
    const states = this.#random.chance(0.5) ? this.#recent : this.#past;
    if (states.length > 0) this.#restore(this.#random.pick(states));
    return before;
  }

  /**
   * The same, to a state in which a record is as it is now.
   *
   * @returns Whether there was such a state.
   */
  goBackKeeping(key: string): boolean {
    const states = [...this.#recent, ...this.#past].filter(({ rows }) => rows.get(key) === this.#rows.get(key));
    if (states.length === 0) return false;
    this.#restore(this.#random.pick(states));
    this.restart("another");
    return true;
  }

  /** The server process starts again; on a lossy store the last writes may be gone. */
  restart(identity: "same" | "another"): void {
    if (identity === "another" || this.traits.model.isRenamedByRestart) {
      this.#history = this.#random.hex128();
      // Half of the losses show in one part alone, as a promoted replica or a copied database does.
      if (this.#history < "8") this.#system = this.#history;
    }
    this.#startedMs = this.#machine.nowMs();
    this.isDown = false;
    this.#frozen = undefined;
  }

  /** A crash may take the last writes of a store that promises no more. */
  loseLastWrites(): void {
    if (this.traits.durability === "durable") return;
    if (this.#recent.length > 0 && this.#random.chance(0.7)) this.#restore(this.#random.pick(this.#recent));
  }

  split(): void {
    if (this.isMinority) return;
    this.isMinority = true;
    this.#beforeSplit = this.#state();
  }

  /**
   * The old primary's writes are thrown away; the other side's state, as it was confirmed, is served by another server.
   */
  healSplit(): void {
    if (!this.isMinority) return;
    this.isMinority = false;
    if (this.#beforeSplit !== undefined) this.#restore(this.#beforeSplit);
    this.#beforeSplit = undefined;
    this.restart("another");
  }

  #state(): StoredState {
    return { rows: new Map(this.#rows), position: this.#position };
  }

  #restore({ rows, position }: StoredState): void {
    this.#rows = new Map(rows);
    this.#position = position;
  }

  #keepPast(): void {
    // The empty state is what `wipe` goes back to.
    if (this.#rows.size === 0) return;
    this.#recent.push(this.#state());
    if (this.#recent.length > recentMax) this.#recent.shift();
    if (this.#queue.nowMs < this.#nextPastMs) return;
    this.#nextPastMs = this.#queue.nowMs + this.#random.between(50, 3_000);
    this.#past.push(this.#state());
    if (this.#past.length > 8) this.#past.splice(this.#random.between(0, 6), 1);
  }
}

/** A process's way to the server. */
export class SimulatedStore implements RecordStore {
  readonly kind = "simulated";
  readonly durability: RecordStore["durability"];
  readonly readsMayBeUndone: boolean;
  readonly liveness: Liveness;
  readonly timing: StoreTiming;
  readonly #server: SimulatedServer;
  readonly #queue: EventQueue;
  readonly #random: SeededRandom;
  readonly #link: LinkState;
  readonly #deliver: (task: () => void) => void;
  readonly #callTimeoutMs: number;
  readonly #onRecord: OnRecord;
  readonly #watch: DangerWatch;
  readonly #owner = {};
  #isClosed = false;

  /** @param deliver - Runs a task in the process: at once, when it wakes up, or never if it is dead. */
  constructor(parts: {
    readonly server: SimulatedServer;
    readonly queue: EventQueue;
    readonly random: SeededRandom;
    readonly link: LinkState;
    readonly deliver: (task: () => void) => void;
    readonly callTimeoutMs: number;
    /** Told of each single record that an answer showed to this process. */
    readonly onRecord: OnRecord;
    readonly watch: DangerWatch;
  }) {
    this.#server = parts.server;
    this.#queue = parts.queue;
    this.#random = parts.random;
    this.#link = parts.link;
    this.#deliver = parts.deliver;
    this.#callTimeoutMs = parts.callTimeoutMs;
    this.#onRecord = parts.onRecord;
    this.#watch = parts.watch;
    const { durability, liveness, timing, model } = parts.server.traits;
    this.durability = durability;
    this.readsMayBeUndone = model.readsMayBeUndone;
    this.timing = timing;
    this.liveness =
      liveness === "ttl"
        ? { kind: "ttl" }
        : { kind: "lock", tryLock: (key) => this.#lock(key), unlock: (key) => this.#unlock(key) };
  }

  moment(): Promise<StoreMoment> {
    return this.#call(() => this.#server.moment(), false);
  }

  list(): Promise<ListAnswer> {
    const call = this.#call(() => this.#server.list(), false);
    call.then(
      (answer) => this.#watch.onList(answer),
      () => {},
    );
    return call;
  }

  async read(key: string): Promise<ReadAnswer> {
    const answer = await this.#call(() => this.#server.read(key), false);
    this.#watch.onRead(key, answer);
    if (answer.entry !== undefined) this.#onRecord(answer.entry, this.readsMayBeUndone ? "shown" : "confirmed");
    return answer;
  }

  async compareAndSet(key: string, expected: Entry | undefined, next: string): Promise<WriteAnswer> {
    const arrive = (): WriteAnswer => {
      const answer = this.#server.compareAndSet(key, expected, next);
      if (answer.kind === "conflict") this.#watch.onConflict(key, expected, this.#server.read(key).entry?.text);
      return answer;
    };
    const call = this.#call(arrive, true);
    const sent = next;
    call.catch(() => this.#watch.onUnanswered(sent));
    const answer = await call;
    this.#watch.onWritten(key, expected, next, answer);
    if (answer.kind === "applied") this.#onRecord(answer.entry, "confirmed");
    return answer;
  }

  close(): Promise<void> {
    this.dropLocks();
    this.#isClosed = true;
    return Promise.resolve();
  }

  /** Gives up the locks, as the end of the process does. */
  dropLocks(): void {
    for (const [key, owner] of this.#server.locks) if (owner === this.#owner) this.#server.locks.delete(key);
  }

  #lock(key: string): Promise<boolean> {
    const owner = this.#server.locks.get(key);
    if (owner === undefined) this.#server.locks.set(key, this.#owner);
    return Promise.resolve(owner === undefined || owner === this.#owner);
  }

  #unlock(key: string): Promise<void> {
    if (this.#server.locks.get(key) === this.#owner) this.#server.locks.delete(key);
    return Promise.resolve();
  }

  #call<T>(operation: () => T, isWrite: boolean): Promise<T> {
    if (this.#isClosed) return Promise.reject(unavailable("is closed"));
    return new Promise((resolve, reject) => {
      let isOver = false;
      const end = (task: () => void): void =>
        this.#deliver(() => {
          if (isOver) return;
          isOver = true;
          cancelTimeout();
          task();
        });
      const cancelTimeout = this.#queue.after(this.#callTimeoutMs, () =>
        end(() => reject(unavailable("did not answer"))),
      );
      const arrive = (): void =>
        this.#server.receive(() => {
          // Without its majority a primary knows of nothing what will stay: it confirms no write, and shows none,
          // unless it is one whose reads may be undone.
          const confirms = !this.#server.isMinority || (!isWrite && this.readsMayBeUndone);
          const answer = operation();
          if (confirms && !this.#isLost()) this.#queue.after(this.#delay(), () => end(() => resolve(answer)));
        });
      if (!this.#isLost()) this.#queue.after(this.#delay(), arrive);
      if (isWrite && this.#random.chance(this.#link.duplicateRate)) this.#queue.after(this.#delay() * 3, arrive);
    });
  }

  #isLost(): boolean {
    return this.#link.isCut || this.#random.chance(this.#link.lossRate);
  }

  /** Mostly quick, now and then as slow as it gets, so that requests and answers overtake each other. */
  #delay(): number {
    const share = this.#random.chance(0.9) ? 0.1 : 1;
    return this.#random.fraction() * this.#link.delayMaxMs * share;
  }
}

function unavailable(what: string): IdError {
  return new IdError("STORE_UNAVAILABLE", `The simulated store ${what}.`, { retryAfterMs: 100 });
}
