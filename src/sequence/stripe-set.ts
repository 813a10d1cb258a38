import type { Clock, Timers } from "../clock/clock.ts";
import { IdError } from "../errors.ts";
import { kernelRandom128 } from "../kernel-random.ts";
import { callerError } from "./sequence-error.ts";
import type { SequenceDatabase } from "./sequence-database.ts";
import { keysMax, type Look, type Member, type SequenceStore } from "./sequence-store.ts";
import { equalDefinitions, onlyStripe, type Stripe, type StoredSequence } from "./sequence.ts";
import { decideStripes, type StripeRules } from "./stripe-members.ts";

/** A database whose stripe is known. */
export interface StripePart {
  readonly stripe: Stripe;
  readonly store: SequenceStore;
  readonly database: SequenceDatabase;
}

/** The databases of a {@link StripeSet}, how long it waits for them, and where it reports problems. */
export interface StripeSetParts {
  /** One for each URL, in the same order: at least one, at most 64. */
  readonly stores: readonly SequenceStore[];
  /** The number of stripes that an operator has set, 1 to 64; undefined if none was set. */
  readonly stripeCount: number | undefined;
  readonly clock: Clock;
  readonly timers: Timers;
  /** The longest that a call waits for values, in milliseconds: see {@link patienceMs}. */
  readonly waitMaxMs: number;
  /** Makes the object that takes values from a database, once its stripe is known. */
  readonly databaseOf: (store: SequenceStore, stripe: Stripe) => SequenceDatabase;
  /**
   * Ties the deployment to its databases, before the first take or creation.
   *
   * @throws IdError INVALID_CONFIG: it uses other databases. STORE_UNAVAILABLE.
   */
  readonly bind: (databaseId: string) => Promise<void>;
  /** Called with the reason why a database is not used while others are: once, until it is used. */
  readonly onProblem: (error: unknown) => void;
  /** Called with the stripe of such a database when it is used. */
  readonly onAnswers: (stripe: number) => void;
}

/** The outcome of one look at all databases. */
interface Settled {
  readonly parts: readonly StripePart[];
  readonly memberCount: number;
  /** The errors of the databases that did not answer. */
  readonly errors: readonly unknown[];
}

/** The most steps in which databases get their stripes: 64 of them need 2,080, and other servers may do some first. */
const stepsMax = 4_000;
/** The pause before databases that did not answer are looked at again. */
const retryMs = 5_000;
/** The shortest time that a database has to answer: a distant one needs this long. */
const patienceMinMs = 100;

/** How long one of several databases is waited for before the others are used. */
export function patienceMs(waitMaxMs: number): number {
  return Math.max(Math.floor(waitMaxMs / 4), patienceMinMs);
}

/**
 * The databases that share the values of each sequence: which of them answer, and which stripe each one has.
 *
 * Example: three new databases, a, b and c by their IDs, and calls that wait for 1,000 ms at most.
 * - a begins the list, b and c are added to it one after the other, and after each addition those that are in the list
 *   get the new copy: 1 + 2 + 3 = 6 writes, each after a look at all of them. Until then none gives values.
 * - For a sequence that counts from 1, a gives 1, 4, 7, ...; b gives 2, 5, 8, ...; c gives 3, 6, 9, ...
 * - Later a server starts, and c does not answer. After 250 ms, a quarter of the wait, the server uses a and b alone.
 *   The first call that comes 5,000 ms after that start, or later, has it look again, and c is used once it answers.
 */
export class StripeSet {
  readonly #parts: StripeSetParts;
  /** By the position of their URL. */
  readonly #settled = new Map<number, StripePart>();
  #settling: Promise<Settled> | undefined;
  /** The binding; once it has succeeded, it is not repeated. */
  #binding: Promise<void> | undefined;
  /** Settled with the first database that can be used. */
  readonly #some = Promise.withResolvers<void>();
  #retryAtMs = 0;
  /** The positions of the databases whose problem was reported; -1: a problem of all of them together. */
  readonly #told = new Set<number>();

  constructor(parts: StripeSetParts) {
    this.#parts = parts;
  }

  /**
   * The databases that can be used: at least one. Those that did not answer are looked at again now and then.
   *
   * @throws IdError STORE_UNAVAILABLE, INVALID_CONFIG.
   */
  async usable(): Promise<readonly StripePart[]> {
    const { stores, clock } = this.#parts;
    const isDue = this.#settled.size < stores.length && clock.monotonicMs() >= this.#retryAtMs;
    if (this.#settled.size === 0 || isDue) {
      const settling = this.#settle();
      if (this.#settled.size === 0) await Promise.race([settling, this.#some.promise]);
      // Its failure is reported elsewhere.
      settling.catch(() => {});
    }
    return [...this.#settled.values()];
  }

  /**
   * The databases that can be used once all have answered or failed, for a caller that got nothing from the first ones.
   */
  async usableLater(): Promise<readonly StripePart[]> {
    await this.#settling?.catch(() => undefined);
    return [...this.#settled.values()];
  }

  /**
   * The databases that can be used once each one has answered, or failed: one that does not belong to them may answer
   * late.
   *
   * @throws IdError INVALID_CONFIG: they do not belong together. STORE_UNAVAILABLE: too few answered to decide that.
   */
  async answered(): Promise<readonly StripePart[]> {
    return (await this.#settle()).parts;
  }

  /** All named databases. @throws IdError STORE_UNAVAILABLE: one does not answer. INVALID_CONFIG. */
  async listed(): Promise<readonly StripePart[]> {
    return (await this.#settleAll()).parts;
  }

  /**
   * All databases of the deployment, as a change of a definition needs them.
   *
   * @throws IdError STORE_UNAVAILABLE: one does not answer. INVALID_CONFIG: one is not named.
   */
  async all(): Promise<readonly StripePart[]> {
    // A single database has no others, so it is not asked for them.
    const [only] = this.#settled.values();
    if (this.#parts.stores.length === 1 && only?.stripe.count === 1) return [only];
    const { parts, memberCount } = await this.#settleAll();
    if (parts.length === memberCount) return parts;
    throw notAllNamed(parts.length, memberCount);
  }

  /**
   * Gives one more database a stripe that no database has had. All definitions are copied to it first. May be repeated.
   *
   * @returns How many definitions were copied, and its stripe.
   * @throws IdError STORE_UNAVAILABLE, STORE_WENT_BACK, INVALID_CONFIG.
   */
  async add(store: SequenceStore): Promise<{ readonly sequenceCount: number; readonly stripe: Stripe }> {
    const { parts, memberCount } = await this.#settleAll();
    const [first] = parts;
    const stores = [...this.#parts.stores, store];
    const rules: StripeRules = { stripeCount: first!.stripe.count, adds: "operator" };
    const [own, theirs] = await Promise.all([store.look([]), first!.store.look([])]);
    // If the command is repeated, it has its stripe already.
    const isMember = memberOf(theirs)
      ?.members.split(" ")
      .includes(memberOf(own)?.storeId ?? "");
    if (parts.length + (isMember ? 1 : 0) !== memberCount) throw notAllNamed(parts.length, memberCount);
    const sequenceCount = await copyDefinitions(first!.store, store);
    for (let step = 0; step < stepsMax; step += 1) {
      const looks = await Promise.all(stores.map((other) => other.look([])));
      const next = decideStripes(looks.map(memberOf), rules);
      if (next.kind === "settled") return { sequenceCount, stripe: next.stripes.get(stores.length - 1)! };
      if (next.kind === "join") await stores[next.position]!.join(next.request);
    }
    throw notSettled();
  }

  async #settleAll(): Promise<Settled> {
    const settled = await this.#settle();
    if (settled.errors.length > 0) throw settled.errors[0];
    return settled;
  }

  #settle(): Promise<Settled> {
    this.#retryAtMs = this.#parts.clock.monotonicMs() + retryMs;
    this.#settling ??= this.#settleOnce()
      .catch((error: unknown) => {
        // Otherwise every call fails with this error.
        if (this.#settled.size > 0) this.#tell(-1, error);
        throw error;
      })
      .finally(() => {
        this.#settling = undefined;
      });
    return this.#settling;
  }

  async #settleOnce(): Promise<Settled> {
    const { stores, stripeCount } = this.#parts;
    for (let step = 0; step < stepsMax; step += 1) {
      const looks = await this.#lookAtAll();
      const errors = looks.flatMap((look) => (look.status === "rejected" ? [look.reason as unknown] : []));
      const members = looks.map((look) => (look.status === "fulfilled" ? memberOf(look.value) : undefined));
      // A database that is gone is noticed and reported by the object that takes values from it.
      const isGone = stores.length === 1 && errors.length === 0 && members[0] === undefined;
      const next = isGone
        ? ({ kind: "settled", stripes: new Map([[0, onlyStripe]]), memberCount: 1, databaseId: "" } as const)
        : decideStripes(members, { stripeCount, adds: "never" });
      if (next.kind === "wait") throw errors[0] ?? notSettled();
      if (next.kind === "join") {
        await stores[next.position]!.join(next.request);
        continue;
      }
      // A database that is gone gives no values.
      if (!isGone) await this.#bind(next.databaseId);
      for (const [position, stripe] of next.stripes) this.#note(position, stripe);
      for (const [position, look] of looks.entries()) {
        if (look.status === "rejected" && !this.#settled.has(position)) this.#tell(position, look.reason);
      }
      this.#told.delete(-1);
      return { parts: [...this.#settled.values()], memberCount: next.memberCount, errors };
    }
    throw notSettled();
  }

  /**
   * Looks at all databases. If some have answered and others do not for some time, those that answered are used
   * meanwhile.
   */
  async #lookAtAll(): Promise<readonly PromiseSettledResult<Look>[]> {
    const { stores, timers, waitMaxMs } = this.#parts;
    const members: (Member | undefined)[] = stores.map(() => undefined);
    let isLate = false;
    const looking = stores.map(async (store, position) => {
      const look = await store.look([]);
      members[position] = memberOf(look);
      if (isLate) void this.#useAnswered(members);
      return look;
    });
    const cancel = timers.after(patienceMs(waitMaxMs), () => {
      isLate = true;
      void this.#useAnswered(members);
    });
    const looks = await Promise.allSettled(looking);
    cancel();
    return looks;
  }

  async #useAnswered(members: readonly (Member | undefined)[]): Promise<void> {
    try {
      const next = decideStripes(members, { stripeCount: this.#parts.stripeCount, adds: "never" });
      if (next.kind !== "settled") return;
      await this.#bind(next.databaseId);
      for (const [position, stripe] of next.stripes) this.#note(position, stripe);
    } catch (error) {
      // The error is reported when all have answered, or failed.
      if (!(error instanceof IdError)) throw error;
    }
  }

  #bind(databaseId: string): Promise<void> {
    this.#binding ??= this.#parts.bind(databaseId).catch((error: unknown) => {
      this.#binding = undefined;
      throw error;
    });
    return this.#binding;
  }

  #note(position: number, stripe: Stripe): void {
    if (this.#settled.has(position)) return;
    const store = this.#parts.stores[position]!;
    this.#settled.set(position, { stripe, store, database: this.#parts.databaseOf(store, stripe) });
    this.#some.resolve();
    if (this.#told.delete(position)) this.#parts.onAnswers(stripe.index);
  }

  #tell(position: number, problem: unknown): void {
    if (this.#told.has(position)) return;
    this.#told.add(position);
    this.#parts.onProblem(problem);
  }
}

function memberOf({ database }: Look) {
  return database?.member;
}

/**
 * Copies all definitions; their counters begin where new sequences of the other database begin. @returns How many were
 * copied.
 */
async function copyDefinitions(from: SequenceStore, to: SequenceStore): Promise<number> {
  let count = 0;
  for (let afterName = ""; ; ) {
    const page = await from.list({ afterName, prefix: "", count: keysMax });
    if (page.length === 0) return count;
    for (const stored of page) await copyOne(stored, to);
    count += page.length;
    afterName = page.at(-1)!.definition.name;
  }
}

async function copyOne({ definition, createdMs, updatedMs }: StoredSequence, to: SequenceStore): Promise<void> {
  const key = { name: definition.name, periodKey: "" };
  const { database, sequences } = await to.look([key]);
  const standing = sequences.get(definition.name);
  if (standing !== undefined && equalDefinitions(standing.definition, definition)) return;
  const stored = { definition, sequenceId: kernelRandom128(), createdMs, updatedMs };
  const writeId = kernelRandom128();
  if (standing === undefined && (await to.create({ stored, writeId }, database?.revision ?? 0))) return;
  const message = `The new database cannot take the sequence ${definition.name}: it is stopped, or has another one of that name.`;
  throw new IdError("INVALID_CONFIG", message, { metadata: { setting: "sequenceStores", name: definition.name } });
}

function notAllNamed(named: number, members: number): IdError {
  const message = `${named} of ${members} databases of sequences are named. Name all of them with --sequence-stores.`;
  return new IdError("INVALID_CONFIG", message, { metadata: { setting: "sequenceStores", named, members } });
}

function notSettled(): IdError {
  const message = "The databases of sequences are not all there yet: the first start needs all of them.";
  return callerError(new IdError("STORE_UNAVAILABLE", message, { retryAfterMs: retryMs }));
}
