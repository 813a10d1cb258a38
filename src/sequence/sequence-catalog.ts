/** What callers and operators do to sequences, apart from taking their values. */
import type { Clock } from "../clock/clock.ts";
import { IdError } from "../errors.ts";
import { kernelRandom128 } from "../kernel-random.ts";
import { createPeriodClock } from "./period.ts";
import type { SequencePlace } from "./sequence-place.ts";
import { counterId, keysMax, keysOf, type ListRange, type OpenOutcome, type SequenceStore } from "./sequence-store.ts";
import {
  changeDefinition,
  checkSequenceName,
  completeDefinition,
  endCountOf,
  equalDefinitions,
  etagOf,
  fieldError,
  indexFrom,
  type SequenceChange,
  type SequenceDraft,
  type StoredSequence,
  valueAt,
} from "./sequence.ts";

/** A sequence, and where its counter of this period stands. */
export interface SequenceState {
  readonly stored: StoredSequence;
  readonly etag: string;
  readonly periodKey: string;
  /** The lowest value that was never taken; undefined = none is left. */
  readonly nextValue: bigint | undefined;
  readonly leftCount: bigint;
  /** Whether the database lost its counter: a counter that is missing is no zero. */
  readonly isLost: boolean;
}

/** An update. */
export interface SequenceUpdate {
  readonly name: string;
  readonly change: SequenceChange;
  /** Upward only. */
  readonly nextValue?: bigint | undefined;
  /** The state that the caller has read; undefined = any. */
  readonly etag?: string | undefined;
}

/** How far an operator raises sequences. */
export type OperatorRaise =
  | { readonly kind: "to"; readonly name: string; readonly value: bigint }
  | { readonly kind: "by"; readonly name: string; readonly count: bigint }
  | { readonly kind: "all"; readonly count: bigint };

/** The parts of a {@link SequenceCatalog}. */
export interface CatalogParts {
  readonly store: SequenceStore;
  readonly place: SequencePlace;
  readonly clock: Clock;
  /** Is told of each sequence that was made or changed. */
  readonly onChanged: (stored: StoredSequence) => void;
}

/** How often an update that found the sequence changed under it is begun again. */
const attemptsMax = 5;

/** See the head of this file. All of it rejects with STORE_UNAVAILABLE where the database does not answer. */
export class SequenceCatalog {
  readonly #parts: CatalogParts;

  constructor(parts: CatalogParts) {
    this.#parts = parts;
  }

  /** Makes sure that the database answers and gives values. @throws IdError STORE_UNAVAILABLE, STORE_WENT_BACK. */
  async check(): Promise<void> {
    await this.#parts.place.ready();
  }

  /**
   * Makes a sequence, or gives the one that stands with the same definition.
   *
   * @throws IdError INVALID_SEQUENCE, SEQUENCE_EXISTS, STORE_WENT_BACK.
   */
  async create(draft: SequenceDraft): Promise<SequenceState> {
    const { store, place, clock, onChanged } = this.#parts;
    const definition = completeDefinition(draft);
    const nowMs = clock.nowMs();
    const stored = { definition, sequenceId: kernelRandom128(), createdMs: nowMs, updatedMs: nowMs };
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const revision = await place.ready();
      if (await store.create({ stored, writeId: kernelRandom128() }, revision)) {
        onChanged(stored);
        return this.get(definition.name);
      }
      const { sequences, counters } = await store.look([{ name: definition.name, periodKey: "" }]);
      const standing = sequences.get(definition.name);
      if (standing !== undefined) {
        if (!equalDefinitions(standing.definition, definition)) throw exists(definition.name);
        onChanged(standing);
        return this.get(definition.name);
      }
      if (counters.has(counterId({ name: definition.name, periodKey: "" }))) throw leftover(definition.name);
      place.forget();
    }
    throw busy(definition.name);
  }

  /** Gives a sequence. @throws IdError INVALID_SEQUENCE, SEQUENCE_NOT_FOUND. */
  async get(name: string): Promise<SequenceState> {
    checkSequenceName(name);
    const { sequences } = await this.#parts.store.look([{ name, periodKey: "" }]);
    const stored = sequences.get(name);
    if (stored === undefined)
      throw new IdError("SEQUENCE_NOT_FOUND", `There is no sequence ${name}.`, { metadata: { name } });
    const [state] = await this.#statesOf([stored]);
    return state!;
  }

  /** Lists sequences by name. */
  async list(range: ListRange): Promise<readonly SequenceState[]> {
    return this.#statesOf(await this.#parts.store.list(range));
  }

  /**
   * Changes a sequence.
   *
   * @throws IdError INVALID_SEQUENCE, SEQUENCE_NOT_FOUND, SEQUENCE_CHANGED.
   */
  async update({ name, change, nextValue, etag }: SequenceUpdate): Promise<SequenceState> {
    const { store, clock, onChanged } = this.#parts;
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const state = await this.get(name);
      const { definition: before, sequenceId } = state.stored;
      if (etag !== undefined && etag !== state.etag) throw changed(name);
      const after = changeDefinition(before, change);
      if (nextValue !== undefined) checkNextValue(state, nextValue);
      const isSame = equalDefinitions(before, after);
      if (!isSame && !(await store.replace({ sequenceId, before, after, updatedMs: clock.nowMs() }, name))) continue;
      if (nextValue !== undefined) {
        const key = { name, periodKey: state.periodKey };
        await store.raise({ kind: "to", key, index: indexFrom(after, nextValue) }, kernelRandom128());
      }
      const result = await this.get(name);
      onChanged(result.stored);
      return result;
    }
    throw changed(name);
  }

  /** Raises counters. @returns How many. @throws IdError SEQUENCE_NOT_FOUND, INVALID_SEQUENCE, INVALID_CONFIG. */
  async raise(request: OperatorRaise): Promise<number> {
    const { store } = this.#parts;
    if (request.kind === "all") return store.raise(request, kernelRandom128());
    const state = await this.get(request.name);
    const key = { name: request.name, periodKey: state.periodKey };
    if (request.kind === "by") return store.raise({ kind: "by", key, count: request.count }, kernelRandom128());
    checkNextValue(state, request.value);
    const index = indexFrom(state.stored.definition, request.value);
    return store.raise({ kind: "to", key, index }, kernelRandom128());
  }

  /** Stops the database for every server. @returns Whether it was not stopped already. */
  async stop(reason: string): Promise<boolean> {
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const { place } = await this.#parts.store.look([]);
      if (place === undefined || place.stopped !== "") return false;
      if (!(await this.#parts.store.stop(reason, place.revision))) continue;
      this.#parts.place.forget();
      return true;
    }
    throw busy("");
  }

  /** Opens the database again. */
  async open(): Promise<OpenOutcome> {
    const outcome = await this.#parts.store.open();
    this.#parts.place.forget();
    return outcome;
  }

  async #statesOf(all: readonly StoredSequence[]): Promise<readonly SequenceState[]> {
    const { store, clock } = this.#parts;
    const nowMs = clock.nowMs();
    const keyed = all.map((stored) => {
      const { name, period, timeZone } = stored.definition;
      return { stored, name, periodKey: createPeriodClock(period, timeZone)(nowMs).key };
    });
    const states: SequenceState[] = [];
    for (let at = 0; at < keyed.length; at += keysMax / 2) {
      const page = keyed.slice(at, at + keysMax / 2);
      const { counters } = await store.look(page.flatMap(keysOf));
      states.push(...page.map(({ stored, periodKey }) => stateOf(stored, periodKey, counters)));
    }
    return states;
  }
}

function stateOf(stored: StoredSequence, periodKey: string, counters: ReadonlyMap<string, bigint>): SequenceState {
  const { definition } = stored;
  const { name } = definition;
  const isLost = !counters.has(counterId({ name, periodKey: "" }));
  // A period whose first value nobody has taken yet has no counter.
  const usedCount = counters.get(counterId({ name, periodKey })) ?? 0n;
  const endCount = endCountOf(definition);
  const leftCount = !isLost && usedCount < endCount ? endCount - usedCount : 0n;
  const nextValue = leftCount === 0n ? undefined : valueAt(definition, usedCount);
  return { stored, etag: etagOf(definition), periodKey, nextValue, leftCount, isLost };
}

function checkNextValue({ stored, nextValue, isLost }: SequenceState, wanted: bigint): void {
  const { startValue, valueMax } = stored.definition;
  const least = nextValue ?? (isLost ? startValue : valueMax + 1n);
  if (wanted >= least && wanted >= startValue && wanted <= valueMax) return;
  const message = `next_value is ${wanted}; it can only go upward, from ${least} to ${valueMax}.`;
  throw fieldError("next_value", message, { next_value: wanted, next_value_min: least, next_value_max: valueMax });
}

function exists(name: string): IdError {
  const message = `The sequence ${name} stands with another definition.`;
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
