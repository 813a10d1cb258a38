import { assert } from "../assert.ts";
import type { Clock } from "../clock/clock.ts";
import { IdError } from "../errors.ts";
import { kernelRandom128 } from "../kernel-random.ts";
import { listServers, type SequenceServer, serversBehind } from "./seen-by-servers.ts";
import { checkNextValue, readStates, type SequenceState, type SequenceStates } from "./sequence-state.ts";
import { type Pruned, prunePeriods } from "./prune-periods.ts";
import {
  counterId,
  keysMax,
  type ListRange,
  type Look,
  type NewSequence,
  type OpenOutcome,
  type PruneRequest,
} from "./sequence-store.ts";
import {
  changeDefinition,
  checkSequenceName,
  completeDefinition,
  equalDefinitions,
  etagOf,
  fieldError,
  indexFrom,
  type SequenceChange,
  type SequenceDefinition,
  type SequenceDraft,
  type StoredSequence,
} from "./sequence.ts";
import type { StripePart, StripeSet } from "./stripe-set.ts";

/** An update. */
export interface SequenceUpdate {
  readonly name: string;
  readonly change: SequenceChange;
  /** The next value; it can only be raised. */
  readonly nextValue?: bigint | undefined;
  /** The etag of the state that the caller has read; undefined = any state. */
  readonly etag?: string | undefined;
}

/** How far an operator raises sequences. */
export type OperatorRaise =
  | { readonly kind: "to"; readonly name: string; readonly value: bigint }
  | { readonly kind: "by"; readonly name: string; readonly count: bigint }
  | { readonly kind: "all"; readonly count: bigint };

/** The databases that a {@link SequenceCatalog} changes, and where it reports changes. */
export interface CatalogParts {
  /** The databases that share the values: an update needs all of them. */
  readonly stripes: Pick<StripeSet, "all" | "answered" | "listed">;
  /** Its wall clock gives the times of creation and update. */
  readonly clock: Clock;
  /** Called with each sequence that was made or changed. */
  readonly onChanged: (stored: StoredSequence) => void;
}

/** How often an update is retried because the sequence changed meanwhile. */
const attemptsMax = 5;

/**
 * What callers and operators do with sequences, apart from taking values. Every method rejects with STORE_UNAVAILABLE
 * if the database does not answer.
 */
export class SequenceCatalog {
  readonly #parts: CatalogParts;

  constructor(parts: CatalogParts) {
    this.#parts = parts;
  }

  /**
   * Checks that the database, or one of several, answers, that all that answer belong together, and that they give
   * values. Databases that fail the check are reported by an event.
   *
   * @throws IdError STORE_UNAVAILABLE, STORE_WENT_BACK, INVALID_CONFIG.
   */
  async check(): Promise<void> {
    for (const { database } of await this.#parts.stripes.answered()) await database.ready();
  }

  /**
   * Creates a sequence, or returns the existing one with the same definition. May be repeated if it reached only some
   * of several databases.
   *
   * @throws IdError INVALID_SEQUENCE, SEQUENCE_EXISTS, STORE_WENT_BACK.
   */
  async create(draft: SequenceDraft): Promise<SequenceState> {
    const { stripes, clock, onChanged } = this.#parts;
    const definition = completeDefinition(draft);
    const parts = await stripes.all();
    if (definition.allocation === "strict" && parts[0]!.stripe.count > 1) {
      const message =
        "A strict sequence needs a single database: of several, each one has only every n-th value, which leaves gaps.";
      throw fieldError("allocation", message);
    }
    const nowMs = clock.nowMs();
    for (const part of parts) {
      await createOn(part, { definition, sequenceId: kernelRandom128(), createdMs: nowMs, updatedMs: nowMs });
    }
    const state = await this.get(definition.name);
    onChanged(state.stored);
    return state;
  }

  /** Returns a sequence. @throws IdError INVALID_SEQUENCE, SEQUENCE_NOT_FOUND. */
  async get(name: string): Promise<SequenceState> {
    checkSequenceName(name);
    const { stripes, clock } = this.#parts;
    const parts = await stripes.all();
    for (const { store } of parts) {
      const { sequences } = await store.look([{ name, periodKey: "" }]);
      const stored = sequences.get(name);
      if (stored === undefined) continue;
      const { states } = await readStates(parts, [stored], clock.nowMs());
      return states[0]!;
    }
    throw new IdError("SEQUENCE_NOT_FOUND", `There is no sequence ${name}.`, { metadata: { name } });
  }

  /** Lists sequences by name, and reports whether a database is stopped. */
  async list(range: ListRange): Promise<SequenceStates> {
    const parts = await this.#parts.stripes.all();
    return readStates(parts, await parts[0]!.store.list(range), this.#parts.clock.nowMs());
  }

  /**
   * Changes a sequence. May be repeated if it reached only some of several databases.
   *
   * @throws IdError INVALID_SEQUENCE, SEQUENCE_NOT_FOUND, SEQUENCE_CHANGED.
   */
  async update({ name, change, nextValue, etag }: SequenceUpdate): Promise<SequenceState> {
    const state = await this.get(name);
    if (nextValue !== undefined) checkNextValue(state, nextValue);
    for (const part of await this.#parts.stripes.all()) {
      const after = await this.#replaceOn(part, { name, change, etag });
      if (after === undefined || nextValue === undefined) continue;
      const key = { name, periodKey: state.periodKey };
      const index = indexFrom(after, nextValue, part.stripe);
      await part.store.raise({ kind: "to", key, index }, kernelRandom128());
    }
    const result = await this.get(name);
    this.#parts.onChanged(result.stored);
    return result;
  }

  /**
   * Raises counters; with `all`, also those that will be created later.
   *
   * @returns How many existing counters were raised; undefined = all were to be raised, but no database is stopped.
   * @throws IdError SEQUENCE_NOT_FOUND, INVALID_SEQUENCE, INVALID_CONFIG.
   */
  async raise(request: OperatorRaise): Promise<number | undefined> {
    const { stripes } = this.#parts;
    assert(request.kind === "to" || request.count >= 0n, () => "counters are never lowered");
    let raisedCount: number | undefined;
    if (request.kind === "all") {
      for (const { store } of await stripes.listed()) {
        const ofStore = await store.raise(request, kernelRandom128());
        if (ofStore !== undefined) raisedCount = (raisedCount ?? 0) + ofStore;
      }
      return raisedCount;
    }
    const state = await this.get(request.name);
    if (request.kind === "to") checkNextValue(state, request.value);
    for (const part of await stripes.all()) raisedCount = (raisedCount ?? 0) + (await raiseOn(part, state, request));
    return raisedCount;
  }

  /**
   * Deletes the counters of all periods that ended before a day, permanently: no clock can make these periods begin
   * again.
   *
   * @param names - The sequences; undefined = every sequence that has periods.
   * @throws IdError as {@link prunePeriods}; SEQUENCE_NOT_FOUND.
   */
  async prune(
    names: readonly string[] | undefined,
    day: string,
    mode: PruneRequest["mode"],
  ): Promise<readonly Pruned[]> {
    const parts = await this.#parts.stripes.all();
    const states =
      names === undefined ? await this.#withPeriods() : await Promise.all(names.map((name) => this.get(name)));
    const nowMs = this.#parts.clock.nowMs();
    const pruned: Pruned[] = [];
    for (const { stored } of states) pruned.push(await prunePeriods(parts, stored.definition, { day, mode, nowMs }));
    return pruned;
  }

  async #withPeriods(): Promise<readonly SequenceState[]> {
    const found: SequenceState[] = [];
    for (let afterName = ""; ; ) {
      const { states } = await this.list({ afterName, prefix: "", count: keysMax });
      if (states.length === 0) return found;
      found.push(...states.filter(({ stored }) => stored.definition.period !== "none"));
      afterName = states.at(-1)!.stored.definition.name;
    }
  }

  /** Stops every named database, for every server. @returns Whether at least one was not stopped already. */
  async stop(reason: string): Promise<boolean> {
    const outcomes: boolean[] = [];
    for (const part of await this.#parts.stripes.listed()) outcomes.push(await stopOne(part, reason));
    return outcomes.includes(true);
  }

  /** Opens every named database that is stopped. */
  async open(): Promise<OpenOutcome> {
    const parts = await this.#parts.stripes.listed();
    const outcomes: OpenOutcome[] = [];
    for (const { store, database } of parts) {
      outcomes.push(await store.open());
      database.recheck();
    }
    const names = outcomes.flatMap((outcome) => (outcome.kind === "missing" ? outcome.names : []));
    if (names.length > 0) return { kind: "missing", names: [...new Set(names)] };
    const shut = outcomes.find(({ kind }) => kind === "moved" || kind === "not-raised");
    if (shut !== undefined) return shut;
    return outcomes.find(({ kind }) => kind === "opened") ?? { kind: "was-open" };
  }

  /** Lists the servers that took values. */
  async servers(): Promise<readonly SequenceServer[]> {
    return listServers(await this.#parts.stripes.listed());
  }

  /** Finds the servers that have not seen the last change of a sequence. See {@link serversBehind}. */
  async behind(name: string, deadAfterMs: number): Promise<readonly SequenceServer[]> {
    return serversBehind(await this.#parts.stripes.all(), name, deadAfterMs);
  }

  /** @returns The definition as it then is; undefined if this database, one of several, does not have the sequence. */
  async #replaceOn(
    { store }: StripePart,
    { name, change, etag }: Pick<SequenceUpdate, "name" | "change" | "etag">,
  ): Promise<SequenceDefinition | undefined> {
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const look = await store.look([{ name, periodKey: "" }]);
      refuseMoved(look);
      const stored = look.sequences.get(name);
      if (stored === undefined) return undefined;
      const { definition: before, sequenceId } = stored;
      const after = changeDefinition(before, change);
      const isSame = equalDefinitions(before, after);
      // An update that reached this database but not all others before is repeated with the former etag.
      const isRepeated = isSame && Object.keys(change).length > 0;
      if (etag !== undefined && etag !== etagOf(before) && !isRepeated) throw changed(name);
      const updatedMs = this.#parts.clock.nowMs();
      if (isSame || (await store.replace({ sequenceId, before, after, updatedMs }, name))) return after;
    }
    throw changed(name);
  }
}

async function createOn({ store, database }: StripePart, stored: NewSequence["stored"]): Promise<void> {
  const { definition } = stored;
  const key = { name: definition.name, periodKey: "" };
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const revision = await database.ready();
    if (await store.create({ stored, writeId: kernelRandom128() }, revision)) return;
    const { sequences, counters } = await store.look([key]);
    const standing = sequences.get(definition.name);
    if (standing !== undefined) {
      if (!equalDefinitions(standing.definition, definition)) throw exists(definition.name);
      return;
    }
    if (counters.has(counterId(key))) throw leftover(definition.name);
    database.recheck();
  }
  throw busy(definition.name);
}

/** Raises one sequence in one database. @returns How many counters were raised. */
async function raiseOn(
  { store, stripe }: StripePart,
  { stored: { definition }, periodKey }: SequenceState,
  request: Exclude<OperatorRaise, { readonly kind: "all" }>,
): Promise<number> {
  const { name } = definition;
  const key = { name, periodKey };
  const first = { name, periodKey: "" };
  const writeId = kernelRandom128();
  const look = await store.look([first]);
  refuseMoved(look);
  if (request.kind === "by") return (await store.raise({ kind: "by", key, count: request.count }, writeId)) ?? 0;
  const { sequences, counters } = look;
  // The creation has not reached this database, one of several; if it had a counter, the creation could never reach it.
  if (!sequences.has(name)) return 0;
  // If values are counted by period, only this counter shows at an opening that nothing was emptied.
  if (periodKey !== "" && !counters.has(counterId(first)))
    await store.raise({ kind: "to", key: first, index: 0n }, writeId);
  return (await store.raise({ kind: "to", key, index: indexFrom(definition, request.value, stripe) }, writeId)) ?? 0;
}

/**
 * Refuses to change a database that was moved away, because the change would be lost. @throws IdError STORE_WENT_BACK.
 */
function refuseMoved({ database }: Look): void {
  if (database === undefined || database.move === "") return;
  const { stopped, move } = database;
  throw new IdError("STORE_WENT_BACK", `Nothing is changed in this database: ${stopped}.`, { metadata: { move } });
}

async function stopOne({ store, database }: StripePart, reason: string): Promise<boolean> {
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const look = await store.look([]);
    if (look.database === undefined || look.database.move !== "") return false;
    const isNew = look.database.stopped === "";
    const { revision } = look.database;
    // A database that is stopped already gets a new revision, which requires another raise.
    if (!(await store.stop({ reason, revision, emptiesStock: false, by: "operator" }))) continue;
    database.recheck();
    return isNew;
  }
  throw busy("");
}

function exists(name: string): IdError {
  const message = `The sequence ${name} exists with another definition.`;
  return new IdError("SEQUENCE_EXISTS", message, { metadata: { name } });
}

function changed(name: string): IdError {
  const message = `The sequence ${name} was changed meanwhile. Read it again.`;
  return new IdError("SEQUENCE_CHANGED", message, { metadata: { name } });
}

function leftover(name: string): IdError {
  const message = `The database has a counter of the sequence ${name}, but lost its definition. Restore it, or choose another name.`;
  return new IdError("STORE_WENT_BACK", message, { metadata: { name } });
}

function busy(name: string): IdError {
  const message = "The database of sequences changed with every attempt. Call again.";
  return new IdError("STORE_UNAVAILABLE", message, { metadata: { name }, retryAfterMs: 100 });
}
