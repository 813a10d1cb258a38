import { IdError } from "../../../src/errors.ts";
import type {
  Entry,
  ListAnswer,
  Liveness,
  ReadAnswer,
  RecordKey,
  RecordStore,
  StoreMoment,
  StoreTiming,
  WriteAnswer,
} from "../../../src/store/record-store.ts";
import { MemoryDatabase, type MemoryDatabaseOptions, type MemoryStore } from "../../support/worlds/memory-store.ts";
import type { EventQueue } from "../event-queue.ts";

/** How long a store's server takes for what it is asked. Milliseconds of its own work, without the way. */
export interface ServerModel {
  /** The way to the server and back. */
  readonly roundTripMs: number;
  /** Operations that it works on at once; the others wait in line. */
  readonly atOnce: number;
  readonly connectMs: number;
  readonly readMs: number;
  readonly writeMs: number;
  /** For each record that a list shows, beside `readMs`. */
  readonly listedRecordMs: number;
}

/** What members asked of a server so far. */
export interface ServerCalls {
  connects: number;
  reads: number;
  lists: number;
  /** Records in the answers to all lists. */
  listedRecords: number;
  /** Writes that were applied. */
  writes: number;
  /** Writes that found another record. */
  conflicts: number;
  /** Bytes of the records that were written. */
  writtenBytes: number;
  /** Answers, conflicts and all, in the busiest second so far. */
  busiestSecond: number;
}

/** `refusing`: each call fails at once. `silent`: nothing is answered, as by a machine that is gone. */
export type ServerState = "up" | "refusing" | "silent";

/** The longest time to connect where nothing has worked for long, and how long that is: see store-link.ts. */
const lostConnectTimeoutMs = 5_000;
const lostAfterMs = 30_000;

/** What a server is asked for. */
interface Operation {
  readonly workMs: number;
  /** Whether its sender still waits. One that does not has cancelled it: it is not begun. */
  readonly isWanted: () => boolean;
  readonly done: () => void;
}

/** Records in memory behind a line of calls that take their time. */
export class ModelledServer {
  readonly database: MemoryDatabase;
  readonly calls: ServerCalls = {
    connects: 0,
    reads: 0,
    lists: 0,
    listedRecords: 0,
    writes: 0,
    conflicts: 0,
    writtenBytes: 0,
    busiestSecond: 0,
  };
  readonly model: ServerModel;
  readonly queue: EventQueue;
  /** Connections of a life of the server end with it. */
  life = 0;
  #state: ServerState = "up";
  #workingCount = 0;
  readonly #line: Operation[] = [];
  #second = 0;
  #inSecond = 0;

  constructor(queue: EventQueue, model: ServerModel, options: MemoryDatabaseOptions) {
    this.queue = queue;
    this.model = model;
    this.database = new MemoryDatabase(options);
  }

  get state(): ServerState {
    return this.#state;
  }

  /** Another state than `up` ends all connections, and what waits in line is not done. */
  set state(state: ServerState) {
    this.#state = state;
    if (state === "up") return;
    this.life += 1;
    this.#workingCount = 0;
    this.#line.length = 0;
  }

  /** Works on an operation when its turn comes. */
  receive(operation: Operation): void {
    this.#line.push(operation);
    this.#next();
  }

  #next(): void {
    if (this.#workingCount >= this.model.atOnce) return;
    const operation = this.#line.shift();
    if (operation === undefined) return;
    if (!operation.isWanted()) return this.#next();
    this.#workingCount += 1;
    const { life } = this;
    this.queue.after(operation.workMs, () => {
      if (life !== this.life) return;
      this.#workingCount -= 1;
      this.#countDone();
      operation.done();
      this.#next();
    });
  }

  #countDone(): void {
    const second = Math.floor(this.queue.nowMs / 1_000);
    this.#inSecond = second === this.#second ? this.#inSecond + 1 : 1;
    this.#second = second;
    this.calls.busiestSecond = Math.max(this.calls.busiestSecond, this.#inSecond);
  }
}

/** One member's connection to a {@link ModelledServer}. */
export class ModelledStore implements RecordStore {
  readonly kind = "modelled";
  readonly durability = "durable";
  readonly liveness: Liveness;
  readonly timing: StoreTiming;
  readonly #server: ModelledServer;
  readonly #records: MemoryStore;
  readonly #callTimeoutMs: number;
  /** The life of the server that it is connected to; undefined = to none. */
  #life: number | undefined;
  #workedAtMs = Number.NEGATIVE_INFINITY;

  constructor(server: ModelledServer, callTimeoutMs: number) {
    this.#server = server;
    this.#records = server.database.open();
    this.#callTimeoutMs = callTimeoutMs;
    this.liveness = this.#records.liveness;
    this.timing = this.#records.timing;
  }

  moment(): Promise<StoreMoment> {
    return this.#call(this.#server.model.readMs, () => this.#records.moment());
  }

  list(): Promise<ListAnswer> {
    const { calls, database, model } = this.#server;
    return this.#call(model.readMs + database.records.size * model.listedRecordMs, async () => {
      const answer = await this.#records.list();
      calls.lists += 1;
      calls.listedRecords += answer.entries.length;
      return answer;
    });
  }

  read(key: RecordKey): Promise<ReadAnswer> {
    return this.#call(this.#server.model.readMs, () => {
      this.#server.calls.reads += 1;
      return this.#records.read(key);
    });
  }

  compareAndSet(key: RecordKey, expected: Entry | undefined, next: string): Promise<WriteAnswer> {
    const { calls, model } = this.#server;
    return this.#call(model.writeMs, async () => {
      const answer = await this.#records.compareAndSet(key, expected, next);
      calls.writes += answer.kind === "applied" ? 1 : 0;
      calls.writtenBytes += answer.kind === "applied" ? next.length : 0;
      calls.conflicts += answer.kind === "conflict" ? 1 : 0;
      return answer;
    });
  }

  async close(): Promise<void> {
    await this.#records.close();
  }

  async #call<T>(workMs: number, operation: () => Promise<T>): Promise<T> {
    const { queue, model } = this.#server;
    if (this.#life !== this.#server.life) {
      const isLost = queue.nowMs - this.#workedAtMs > lostAfterMs;
      const timeoutMs = this.#callTimeoutMs + (isLost ? lostConnectTimeoutMs : 0);
      this.#life = await this.#send(model.connectMs, timeoutMs, async () => {
        this.#server.calls.connects += 1;
        return this.#server.life;
      });
    }
    const answer = await this.#send(workMs, this.#callTimeoutMs, operation);
    this.#workedAtMs = queue.nowMs;
    return answer;
  }

  #send<T>(workMs: number, timeoutMs: number, operation: () => Promise<T>): Promise<T> {
    const { queue, model } = this.#server;
    const wayMs = model.roundTripMs / 2;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    let isWanted = true;
    const end = (): void => {
      isWanted = false;
      cancel();
    };
    const fail = (problem: string): void => {
      if (!isWanted) return;
      end();
      this.#life = undefined;
      reject(new IdError("STORE_UNAVAILABLE", `The modelled store is unavailable: ${problem}.`));
    };
    const cancel = queue.after(timeoutMs, () => fail(`no answer within ${timeoutMs} ms`));
    const answer = (given: T): void => {
      if (!isWanted) return;
      end();
      resolve(given);
    };
    const done = (): void => void operation().then((given) => queue.after(wayMs, () => answer(given)));
    queue.after(wayMs, () => {
      if (this.#server.state === "refusing") queue.after(wayMs, () => fail("connection refused"));
      else if (this.#server.state === "up") this.#server.receive({ workMs, isWanted: () => isWanted, done });
    });
    return promise;
  }
}
