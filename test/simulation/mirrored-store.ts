import type {
  Entry,
  ListAnswer,
  ReadAnswer,
  RecordStore,
  StoreMoment,
  WriteAnswer,
} from "../../src/worker/record-store.ts";

/**
 * A store whose calls a shadow can repeat: the shadow's n-th call gets the answer of the original's n-th call, at the
 * same moment, until the shadow stands alone. So two holders that do the same see the same, as two copies of one memory
 * do.
 */
export class MirroredStore implements RecordStore {
  readonly #store: RecordStore;
  /** Answers in the order of the calls; shared with the shadow. */
  readonly #answers: PromiseWithResolvers<unknown>[];
  /** What both know of their calls: the names in order, until they differ. */
  readonly #lane: { readonly names: string[]; hasDiverged: boolean };
  #calls = 0;
  #original: MirroredStore | undefined;
  readonly #isShadowed: boolean;
  readonly #onCall: () => void;
  /** The highest mark that was asked for, for each worker record. */
  readonly askedFor = new Map<string, string>();

  /**
   * @param role - Whether a shadow will ask for the same answers, or whose shadow this is.
   * @param onCall - Told of every call, before it is sent.
   */
  constructor(store: RecordStore, role: "alone" | "shadowed" | MirroredStore, onCall: () => void) {
    const original = role instanceof MirroredStore ? role : undefined;
    this.#store = store;
    this.#onCall = onCall;
    this.#original = original;
    this.#answers = original === undefined ? [] : original.#answers;
    this.#lane = original === undefined ? { names: [], hasDiverged: false } : original.#lane;
    this.#isShadowed = role === "shadowed";
  }

  get kind(): string {
    return this.#store.kind;
  }

  get durability(): RecordStore["durability"] {
    return this.#store.durability;
  }

  get liveness(): RecordStore["liveness"] {
    return this.#store.liveness;
  }

  get timing(): RecordStore["timing"] {
    return this.#store.timing;
  }

  moment(): Promise<StoreMoment> {
    return this.#call("moment", () => this.#store.moment());
  }

  list(): Promise<ListAnswer> {
    return this.#call("list", () => this.#store.list());
  }

  read(key: string): Promise<ReadAnswer> {
    return this.#call("read", () => this.#store.read(key));
  }

  compareAndSet(key: string, expected: Entry | undefined, next: string): Promise<WriteAnswer> {
    this.askedFor.set(key, next);
    return this.#call("compareAndSet", () => this.#store.compareAndSet(key, expected, next));
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  standAlone(): void {
    this.#original = undefined;
  }

  /** Whether the shadow once made another call than its original: then it is no copy of it. */
  get hasDiverged(): boolean {
    return this.#lane.hasDiverged;
  }

  #call<T>(name: string, call: () => Promise<T>): Promise<T> {
    this.#onCall();
    const index = this.#calls;
    const isSame = (this.#lane.names[index] ??= name) === name;
    if (this.#original !== undefined && (!isSame || this.hasDiverged)) {
      this.#lane.hasDiverged = true;
      return new Promise(() => {});
    }
    // The shadow was first, and asked for something else: it waits for ever.
    if (!isSame) this.#lane.hasDiverged = true;
    this.#calls += 1;
    if (this.#original !== undefined) return this.#answer(index).promise as Promise<T>;
    const answered = call();
    if (this.#isShadowed && isSame) {
      const { resolve, reject } = this.#answer(index);
      answered.then(resolve, reject);
    }
    return answered;
  }

  #answer(index: number): PromiseWithResolvers<unknown> {
    const known = this.#answers[index];
    if (known !== undefined) return known;
    const made = Promise.withResolvers<unknown>();
    made.promise.catch(() => {});
    this.#answers[index] = made;
    return made;
  }
}
