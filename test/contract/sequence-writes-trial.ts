/**
 * One call of a database of sequences after another, each on the same first rows: what it answers, and which cells it
 * changes.
 */
import type { MovableStore } from "../../src/sequence/movable-store.ts";
import { raisedAheadMs, openAheadMs } from "../../src/sequence/sequence-store.ts";
import {
  type Cells,
  neighbour,
  ours,
  putFirstRows,
  readCells,
  tableList,
  tables,
  type WriteCase,
  type WritesWorld,
} from "./sequence-rows.ts";

/** What a call did. */
export interface Tried {
  readonly answer: unknown;
  /** As {@link WriteCase.writes}. */
  readonly writes: readonly string[];
}

/** Calls of a store of our namespace, in a database where a neighbour has the same rows. */
export class SequenceWritesTrial {
  readonly #world: WritesWorld;
  readonly #store: MovableStore;
  readonly #other: MovableStore;
  readonly #identity: string;

  private constructor(world: WritesWorld, stores: readonly [MovableStore, MovableStore], identity: string) {
    this.#world = world;
    [this.#store, this.#other] = stores;
    this.#identity = identity;
  }

  static async begin(world: WritesWorld): Promise<SequenceWritesTrial> {
    const stores = [await world.open(ours), await world.open(neighbour)] as const;
    const [{ identity }] = [await stores[0].look([]), await stores[1].look([])];
    return new SequenceWritesTrial(world, stores, identity);
  }

  async try({ given, call, mayNote = false }: WriteCase): Promise<Tried> {
    const fromMs = await this.#clockMs();
    await this.#prepare(given?.(fromMs) ?? []);
    const before = await readCells(this.#world);
    const answer = await this.#callBeside(() => call(this.#store, fromMs));
    const after = await readCells(this.#world);
    const changes = changesOf(before, after, shownIn(this.#identity, fromMs, await this.#clockMs()));
    return { answer, writes: changes.filter((change) => !mayNote || !change.startsWith("witness ")) };
  }

  async end(): Promise<void> {
    await Promise.all([this.#store, this.#other].map((store) => store.close()));
    await this.#world.close();
  }

  async #prepare(given: readonly string[]): Promise<void> {
    const statements = ["BEGIN", ...putFirstRows(this.#identity), ...given, "COMMIT"];
    for (const statement of statements) await this.#world.run(statement);
  }

  async #clockMs(): Promise<number> {
    return (await this.#other.look([])).clockMs;
  }

  /** A call, while another transaction has locked the rows of the neighbour. */
  async #callBeside(call: () => Promise<unknown>): Promise<unknown> {
    const world = this.#world;
    if (!world.waitsForNone) return call();
    await world.run("BEGIN");
    for (const table of tableList) {
      await world.run(`SELECT 1 FROM ${tables[table].name} WHERE namespace = '${neighbour}' FOR UPDATE`);
    }
    try {
      return await call();
    } finally {
      await world.run("COMMIT");
    }
  }
}

/** Says which cells differ. @param show - How a new value is shown. */
function changesOf(before: Cells, after: Cells, show: (value: string) => string): readonly string[] {
  const changes: string[] = [];
  for (const [row, columns] of after) {
    const old = before.get(row);
    if (old === undefined) {
      const shown = [...columns]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, value]) => `${name}=${show(value)}`);
      changes.push(`+ ${row} ${shown.join(" ")}`);
      continue;
    }
    for (const [name, value] of columns) {
      if (old.get(name) !== value) changes.push(`${row} ${name} ${old.get(name)} > ${show(value)}`);
    }
  }
  for (const row of before.keys()) if (!after.has(row)) changes.push(`- ${row}`);
  return changes.toSorted();
}

/** How a value is shown: a time of the database's clock, its identity, and what is drawn by chance, have words. */
function shownIn(identity: string, fromMs: number, toMs: number): (value: string) => string {
  return (value) => {
    if (value === identity) return "here";
    if (/^[0-9a-f]{32}$/.test(value)) return "random";
    for (const aheadMs of [0, openAheadMs, raisedAheadMs]) {
      const ms = Number(value) - aheadMs;
      if (ms >= fromMs && ms <= toMs) return aheadMs === 0 ? "now" : `now+${aheadMs}`;
    }
    return value;
  };
}
