import { expect, test } from "vitest";
import { MovingWorld } from "../../test/support/worlds/moving-world.ts";
import { recordKeys } from "./records/record-text.ts";
import { bindSequences, readBinding } from "./sequences-binding.ts";

const [one, other] = ["1", "2"].map((digit) => ({ databaseId: digit.repeat(32), place: `sqlite:/${digit}.db` }));

test("a database of sequences is noted once, and every other one is refused with both named", async () => {
  const world = new MovingWorld({ hasClock: true });
  await world.populate();
  const store = world.database.open();
  expect(await bindSequences(store, one!, 0)).toBe(true);
  expect(await bindSequences(store, { ...one!, place: "sqlite:/moved.db" }, 5)).toBe(false);
  const refused = bindSequences(store, other!, 5);
  await expect(refused).rejects.toThrow(
    /keeps its sequences in sqlite:\/1\.db since 1970-01-01T.*is named: sqlite:\/2\.db/,
  );
  await expect(refused).rejects.toMatchObject({ reason: "INVALID_CONFIG" });
  expect(await readBinding(store)).toMatchObject({ ...one, sinceMs: 0 });
});

test("of servers that note two databases at once, one is refused", async () => {
  const world = new MovingWorld({ hasClock: true });
  await world.populate();
  const outcomes = await Promise.allSettled(
    [one!, other!].map((named) => bindSequences(world.database.open(), named, 0)),
  );
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
});

test("a store without a deployment notes nothing, and one that its namespace left refuses", async () => {
  const world = new MovingWorld({ hasClock: true });
  await expect(bindSequences(world.database.open(), one!, 0)).rejects.toMatchObject({ reason: "STORE_UNAVAILABLE" });
  await world.populate();
  await world.move();
  await expect(bindSequences(world.database.open(), one!, 0)).rejects.toMatchObject({ reason: "INVALID_CONFIG" });
  expect(world.database.entry(recordKeys.sequences)).toBeUndefined();
});

test("a move takes the note along", async () => {
  const world = new MovingWorld({ hasClock: true });
  await world.populate();
  await bindSequences(world.database.open(), one!, 0);
  await world.move();
  await expect(bindSequences(world.target.open(), other!, 0)).rejects.toMatchObject({ reason: "INVALID_CONFIG" });
});
