import type {
  Entry,
  ListAnswer,
  ReadAnswer,
  RecordStore,
  StoreMoment,
  WriteAnswer,
} from "../../src/store/record-store.ts";

/**
 * A store whose calls a shadow can repeat: the shadow's n-th call gets the answer of the original's n-th call, at the
 * same moment, until the shadow stands alone. So two holders that do the same see the same, as two copies of one memory
 * do.
 */
export class MirroredStore implements RecordStore {
  readonly #store: RecordStore;
  /** Answers in the order of the calls; shared with the shadow. */
  readonly #answers: PromiseWithResolvers<unknown>[];
  /** The calls of both in order, each with all that was sent; shared with the shadow. */
  readonly #sent: string[];
  #calls = 0;
  #original: MirroredStore | undefined;
  readonly #isShadowed: boolean;
  readonly #onCall: () => void;
  readonly #onDiverged: (error: Error) => void;
  /** The highest mark that was asked for, for each worker record. */
  readonly askedFor = new Map<string, string>();

  /**
   * @param role - Whether a shadow will ask for the same answers, or whose shadow this is.
   * @param told - `onCall` of every call, before it is sent; `onDiverged` when original and shadow do not do the same.
   */
  constructor(
    store: RecordStore,
    role: "alone" | "shadowed" | MirroredStore,
    told: { readonly onCall: () => void; readonly onDiverged: (error: Error) => void },
  ) {
    const original = role instanceof MirroredStore ? role : undefined;
    this.#store = store;
    this.#onCall = told.onCall;
    this.#onDiverged = told.onDiverged;
    this.#original = original;
    this.#answers = original === undefined ? [] : original.#answers;
    this.#sent = original === undefined ? [] : original.#sent;
    this.#isShadowed = role === "shadowed";
  }

  get kind(): string {
    return this.#store.kind;
  }

  get durability(): RecordStore["durability"] {
    return this.#store.durability;
  }

  get readsMayBeUndone(): boolean {
    return this.#store.readsMayBeUndone ?? false;
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
    return this.#call(`read ${key}`, () => this.#store.read(key));
  }

  compareAndSet(key: string, expected: Entry | undefined, next: string): Promise<WriteAnswer> {
    this.askedFor.set(key, next);
    return this.#call(`compareAndSet ${key} ${next}`, () => this.#store.compareAndSet(key, expected, next));
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  standAlone(): void {
    this.#original = undefined;
  }

  /**
   * Two that send something else are not two copies of one memory: whatever came of it would show nothing.
   *
   * @param what - All that is sent.
   */
  #call<T>(what: string, call: () => Promise<T>): Promise<T> {
    this.#onCall();
    const index = this.#calls;
    this.#calls += 1;
    if (this.#original === undefined && !this.#isShadowed) return call();
    const sent = (this.#sent[index] ??= what);
    if (sent !== what) this.#onDiverged(new Error(`A process sent ${sent} where its copy sent ${what}.`));
    if (this.#original !== undefined) return this.#answer(index).promise as Promise<T>;
    const answered = call();
    const { resolve, reject } = this.#answer(index);
    answered.then(resolve, reject);
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
