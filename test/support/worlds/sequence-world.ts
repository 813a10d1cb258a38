import type { Timers } from "../../../src/clock/clock.ts";
import { IdError } from "../../../src/errors.ts";
import { SequenceCatalog } from "../../../src/sequence/sequence-catalog.ts";
import { SequenceDatabase } from "../../../src/sequence/sequence-database.ts";
import { onlyStripe, type SequenceDraft } from "../../../src/sequence/sequence.ts";
import { StripedDatabases } from "../../../src/sequence/striped-databases.ts";
import type { ValueRun } from "../../../src/sequence/segment-buffer.ts";
import { ValueSources } from "../../../src/sequence/value-sources.ts";
import { ManualTime } from "./manual-time.ts";
import { MemorySequences, memorySequenceStore } from "./memory-sequences.ts";

const onEvent = (): void => {};

/** The sequences of one server over a database in memory, in time that stands still until a test moves it. */
export class SequenceWorld {
  readonly time = new ManualTime(Date.UTC(2027, 0, 1, 12));
  readonly sources: ValueSources;
  /** Each call of the database, by its name, and with how many names a look came. */
  readonly calls: { readonly name: string; readonly keyCount: number }[] = [];
  /** The most calls that were under way at once, of one name. */
  readonly most = new Map<string, number>();
  isDown = false;
  /** How long the database takes. */
  delayMs = 0;
  readonly #catalog: SequenceCatalog;
  readonly #underWay = new Map<string, number>();

  /** @param timers - Of callers that wait: those of the time that a test moves, if none are given. */
  constructor(waitMaxMs = 1_000, timers?: Timers, namesMax = 100) {
    const { time: clock } = this;
    const database = new MemorySequences("system=1", () => clock.nowMs());
    const inMemory = memorySequenceStore(
      () => database,
      (statement, name) => this.#carry(statement, name),
    );
    const store: typeof inMemory = {
      ...inMemory,
      look: async (keys, processId) => {
        this.calls.push({ name: "look", keyCount: keys.length });
        // As a real database answers: with objects that nobody else holds.
        return structuredClone(await inMemory.look(keys, processId));
      },
    };
    const part = { stripe: onlyStripe, store, database: new SequenceDatabase({ store, clock, onEvent }) };
    const parts = async () => [part];
    const databases = new StripedDatabases({
      stripes: { usable: parts, usableLater: parts },
      clock,
      timers: clock,
      waitMaxMs,
      onEvent,
    });
    const counters = { issued: 0, taken: 0, refused: 0, failed: 0 };
    this.sources = new ValueSources({
      counters,
      database: databases,
      clock,
      timers: timers ?? clock,
      waitMaxMs,
      namesMax,
      onEvent,
    });
    this.#catalog = new SequenceCatalog({
      stripes: { all: parts, answered: parts, listed: parts },
      clock,
      onChanged: () => {},
    });
  }

  async create(...drafts: readonly SequenceDraft[]): Promise<void> {
    const created = Promise.all(drafts.map((draft) => this.#catalog.create(draft)));
    await this.time.run(100);
    await created;
    this.calls.length = 0;
    this.most.clear();
  }

  /** How often a call of the database was made. */
  countOf(name: string): number {
    return this.calls.filter((call) => call.name === name).length;
  }

  /** The values of one call, or its error. Time has to be moved meanwhile. */
  async draw(name: string, count = 1): Promise<readonly bigint[] | IdError> {
    try {
      const source = await this.sources.open(name);
      const { runs } = await source.reserve({ count, priority: "unary" });
      return runs.flatMap(valuesOf);
    } catch (error) {
      if (error instanceof IdError) return error;
      throw error;
    }
  }

  async #carry<T>(statement: () => T, name: string): Promise<T> {
    if (name !== "look") this.calls.push({ name, keyCount: 0 });
    const underWay = (this.#underWay.get(name) ?? 0) + 1;
    this.#underWay.set(name, underWay);
    this.most.set(name, Math.max(underWay, this.most.get(name) ?? 0));
    try {
      if (this.delayMs > 0) {
        const { promise, resolve } = Promise.withResolvers<void>();
        this.time.after(this.delayMs, resolve);
        await promise;
      }
      if (this.isDown) throw new IdError("STORE_UNAVAILABLE", `No answer to ${name}.`);
      return statement();
    } finally {
      this.#underWay.set(name, this.#underWay.get(name)! - 1);
    }
  }
}

function valuesOf({ firstValue, count, increment }: ValueRun): readonly bigint[] {
  return Array.from({ length: count }, (_, index) => firstValue + BigInt(index) * increment);
}
