import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { FairQueue } from "./fair-queue.ts";

/** A task that is noted, and again after some promises. */
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
  const [first, second] = [{}, {}];
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

test("what nobody waits for takes no turn", async () => {
  const queue = new FairQueue();
  const done: string[] = [];
  for (let index = 0; index < 1_000; index++) queue.add(queue, () => false);
  queue.add(queue, noted(done, "a"));
  await nextTurn();
  await nextTurn();
  expect(done).toEqual(["a", "a followed"]);
});

test("a task may add another", async () => {
  const queue = new FairQueue();
  const done: string[] = [];
  queue.add(queue, () => {
    queue.add(queue, noted(done, "a"));
    return true;
  });
  for (let turn = 0; turn < 3; turn++) await nextTurn();
  expect(done).toEqual(["a", "a followed"]);
});
