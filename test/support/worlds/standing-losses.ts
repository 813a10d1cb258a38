import { expect } from "vitest";
import { openSequences } from "./opened-sequences.ts";

/** Losses in a database that stays the same one, each with the statement that makes it and the reason that is told. */
const losses = {
  lower: ["UPDATE snowlane_sequence_counter SET used_count = 2", "the counter of orders stands at 2, after 100"],
  counter: ["DELETE FROM snowlane_sequence_counter", "the counter of orders is gone"],
  sequence: ["DELETE FROM snowlane_sequence", "the sequence orders is gone"],
  another: ["UPDATE snowlane_sequence SET sequence_id = 'x'", "the sequence orders is another one of the same name"],
} as const;

/**
 * Expects that each of them stops the database, in a namespace of its own, although the server that finds it has values
 * in memory and takes none.
 *
 * @param run - Runs a statement on the database, and gives its rows.
 */
export async function expectStops(
  url: string,
  run: (statement: string) => Promise<readonly Readonly<Record<string, unknown>>[]>,
): Promise<void> {
  await Promise.all(
    Object.entries(losses).map(async ([namespace, [statement, reason]]) => {
      const sequences = openSequences(url, namespace);
      await (await sequences.catalog()).create({ name: "orders", stepMin: 100, stepMax: 100 });
      expect(await sequences.take(5)).toEqual([1, 2, 3, 4, 5]);
      await run(`${statement} WHERE namespace = '${namespace}'`);
      const stopped = `SELECT stopped FROM snowlane_sequence_place WHERE namespace = '${namespace}'`;
      // MySQL and MariaDB give it as bytes.
      const reasonNow = async () => String((await run(stopped))[0]?.["stopped"]);
      await expect.poll(reasonNow, { timeout: 60_000 }).toBe(reason);
      // Values in memory were taken before.
      expect(await sequences.take(1)).toEqual([6]);
      const other = openSequences(url, namespace).take(1);
      await expect(other).rejects.toMatchObject({ reason: "STORE_WENT_BACK" });
    }),
  );
}
