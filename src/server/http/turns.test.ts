import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { ManualTime } from "../../../test/support/worlds/manual-time.ts";
import { Turns } from "./turns.ts";

/** Work of `pieces` pieces, each of which takes `costMs` and is noted. */
function work(time: ManualTime, done: string[], name: string, pieces: number, costMs: number): () => boolean {
  let left = pieces;
  return () => {
    time.stall(costMs);
    done.push(name);
    left--;
    return left > 0;
  };
}

test("cheap work is done at once", () => {
  const time = new ManualTime();
  const turns = new Turns(time);
  const done: string[] = [];
  turns.take(work(time, done, "a", 20, 0.001));
  turns.take(work(time, done, "b", 20, 0.001));
  expect(done).toEqual([...Array<string>(20).fill("a"), ...Array<string>(20).fill("b")]);
});

test("expensive work is done a piece a turn, in rotation, and others' events come between", async () => {
  const time = new ManualTime();
  const turns = new Turns(time);
  const done: string[] = [];
  turns.take(work(time, done, "a", 4, 1));
  turns.take(work(time, done, "b", 2, 1));
  expect(done).toEqual(["a"]);
  const lengths: number[] = [];
  for (let turn = 0; turn < 6; turn++) {
    await nextTurn();
    lengths.push(done.length);
  }
  expect(done).toEqual(["a", "a", "b", "a", "b", "a"]);
  expect(Math.max(...lengths.map((length, index) => length - (lengths[index - 1] ?? 1)))).toBe(1);
});

test("after a quiet time there is a whole turn again", async () => {
  const time = new ManualTime();
  const turns = new Turns(time);
  const done: string[] = [];
  turns.take(work(time, done, "a", 1, 1));
  await nextTurn();
  turns.take(work(time, done, "b", 5, 0.01));
  expect(done).toHaveLength(6);
});

test("of two tasks of ten pieces of 0.03 ms each turn does four, as its example says", async () => {
  const time = new ManualTime();
  const turns = new Turns(time);
  const done: string[] = [];
  turns.take(work(time, done, "a", 10, 0.03));
  turns.take(work(time, done, "b", 10, 0.03));
  const perTurn = [done.splice(0).join("")];
  for (let turn = 0; turn < 8 && perTurn.at(-1) !== ""; turn += 1) {
    await nextTurn();
    perTurn.push(done.splice(0).join(""));
  }
  expect(perTurn).toEqual(["aaaa", "abab", "abab", "abab", "bbbb", ""]);
});
