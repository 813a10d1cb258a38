import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { FairQueue } from "./fair-queue.ts";

/** A task that is noted when it runs, and again after some promises. */
function noted(done: string[], name: string): () => boolean {
  return () => {
    done.push(name);
    void (async () => {
      for (let hop = 0; hop < 20; hop++) await Promise.resolve();
      done.push(`${name} followed`);
    })();
    return true;
  };
}

test("one task a turn, with what follows from it; owners take turns", async () => {
  const queue = new FairQueue();
  const done: string[] = [];
  const [first, second] = [
    { network: "a", connection: {} },
    { network: "b", connection: {} },
  ];
  for (const name of ["a", "b", "c"]) queue.add(first, noted(done, name));
  queue.add(second, noted(done, "x"));
  expect(done).toEqual([]);
  const lengths: number[] = [];
  for (let turn = 0; turn < 5; turn++) {
    await nextTurn();
    lengths.push(done.length);
  }
  expect(done).toEqual(["a", "x", "b", "c"].flatMap((name) => [name, `${name} followed`]));
  expect(Math.max(...lengths.map((length, index) => length - (lengths[index - 1] ?? 0)))).toBe(2);
});

const owner = { network: "a", connection: {} };

test("what nobody waits for takes no turn", async () => {
  const queue = new FairQueue();
  const done: string[] = [];
  for (let index = 0; index < 1_000; index++) queue.add(owner, () => false);
  queue.add(owner, noted(done, "a"));
  await nextTurn();
  await nextTurn();
  expect(done).toEqual(["a", "a followed"]);
});

test("a task may add another", async () => {
  const queue = new FairQueue();
  const done: string[] = [];
  queue.add(owner, () => {
    queue.add(owner, noted(done, "a"));
    return true;
  });
  for (let turn = 0; turn < 3; turn++) await nextTurn();
  expect(done).toEqual(["a", "a followed"]);
});

// Each connection used to have a line of its own, so that those of one host kept all others waiting.
test("OPERATIONS 5: networks take turns, however many connections one of them has, and its connections take turns within it", async () => {
  const queue = new FairQueue();
  const done: string[] = [];
  const [busy, other] = [{}, {}];
  for (const name of ["a1", "a2"]) queue.add({ network: "crowd", connection: busy }, noted(done, name));
  for (const name of ["b", "c", "d"]) queue.add({ network: "crowd", connection: {} }, noted(done, name));
  for (const name of ["x", "y"]) queue.add({ network: "one", connection: other }, noted(done, name));
  for (let turn = 0; turn < 8; turn++) await nextTurn();
  expect(done.filter((name) => name.length < 3)).toEqual(["a1", "x", "b", "y", "c", "d", "a2"]);
});
