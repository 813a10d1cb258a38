import { expect } from "vitest";
import { openSequences } from "./opened-sequences.ts";

/** A loss in a database that stays the same one. */
interface Loss {
  /** Makes it. */
  readonly statement: string;
  /** The reason of the stop. */
  readonly reason: string;
  /** The first value after the runbook, which raises by 1,000; undefined = the sequence stays lost. */
  readonly nextValue: number | undefined;
}

const losses: Readonly<Record<string, Loss>> = {
  lower: {
    statement: "UPDATE snowlane_sequence_counter SET used_count = 2",
    reason: "the counter of orders is at 2, after 100",
    nextValue: 1_003,
  },
  counter: {
    statement: "DELETE FROM snowlane_sequence_counter",
    reason: "the counter of orders is gone",
    nextValue: 2_000,
  },
  sequence: {
    statement: "DELETE FROM snowlane_sequence",
    reason: "the sequence orders is gone",
    nextValue: undefined,
  },
  another: {
    statement: "UPDATE snowlane_sequence SET sequence_id = 'x'",
    reason: "the sequence orders is another one of the same name",
    nextValue: 1_101,
  },
};

/**
 * Expects that each of them stops the database, in a namespace of its own, although the server that finds it has values
 * in memory and takes none, and that they go; and that the runbook opens it again, above all values that were handed
 * out.
 *
 * @param run - Runs a statement on the database, and gives its rows.
 */
export async function expectStops(
  url: string,
  run: (statement: string) => Promise<readonly Readonly<Record<string, unknown>>[]>,
): Promise<void> {
  await Promise.all(
    Object.entries(losses).map(async ([namespace, { statement, reason, nextValue }]) => {
      const sequences = openSequences(url, namespace);
      const orders = { name: "orders", stepMin: 100, stepMax: 100 };
      await (await sequences.catalog()).create(orders);
      expect(await sequences.take(5)).toEqual([1, 2, 3, 4, 5]);
      await run(`${statement} WHERE namespace = '${namespace}'`);
      const stopped = `SELECT stopped FROM snowlane_sequence_place WHERE namespace = '${namespace}'`;
      // MySQL and MariaDB give it as bytes.
      const reasonNow = async () => String((await run(stopped))[0]?.["stopped"]);
      await expect.poll(reasonNow, { timeout: 60_000 }).toBe(reason);
      // Values on both sides of the loss may be in memory: all of them go.
      await expect(sequences.take(1)).rejects.toMatchObject({ reason: "STORE_WENT_BACK" });
      const other = openSequences(url, namespace).take(1);
      await expect(other).rejects.toMatchObject({ reason: "STORE_WENT_BACK" });

      const catalog = await sequences.catalog();
      const isGone = namespace === "counter";
      expect(await catalog.raise({ kind: "all", count: 1_000n })).toBe(isGone ? 0 : 1);
      if (isGone) {
        expect(await catalog.open()).toEqual({ kind: "missing", names: ["orders"] });
        expect(await catalog.raise({ kind: "to", name: "orders", value: 2_000n })).toBe(1);
      }
      expect(await catalog.open()).toMatchObject({ kind: "opened" });
      // The half minute is over at once.
      await run(`UPDATE snowlane_sequence_place SET open_ms = 0 WHERE namespace = '${namespace}'`);
      const later = openSequences(url, namespace);
      if (nextValue !== undefined) expect(await later.take(1)).toEqual([nextValue]);
      else await expect((await later.catalog()).create(orders)).rejects.toMatchObject({ reason: "STORE_WENT_BACK" });
    }),
  );
}
