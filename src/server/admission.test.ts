import { expect, test } from "vitest";
import { ManualTime } from "../../test/support/manual-time.ts";
import { Admission } from "./admission.ts";

function open(perSecond: number) {
  const time = new ManualTime();
  const inside: number[] = [];
  const admission = new Admission<number>(perSecond, time, (guest) => inside.push(guest));
  const crowd = (from: number, to: number): void => {
    for (let guest = from; guest < to; guest++) admission.ask(guest);
  };
  return { time, inside, admission, crowd };
}

test("half a second's guests come in at once, the rest at the rate, in their order", async () => {
  const { time, inside, crowd } = open(1_000);
  crowd(0, 800);
  expect(inside).toHaveLength(500);
  await time.run(100);
  expect(inside).toHaveLength(600);
  await time.run(1_000);
  expect(inside).toEqual(Array.from({ length: 800 }, (_, guest) => guest));
});

test("who comes later waits behind those who wait", async () => {
  const { time, inside, crowd } = open(10);
  crowd(0, 7);
  await time.run(50);
  crowd(7, 8);
  expect(inside).toHaveLength(5);
  await time.run(1_000);
  expect(inside).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
});

test("over a long time no more come in than the rate says, and after a rest there is a whole burst again", async () => {
  const { time, inside, crowd } = open(100);
  crowd(0, 10_000);
  await time.run(10_000);
  expect(inside).toHaveLength(50 + 1_000);
  const rested = open(100);
  rested.crowd(0, 50);
  await rested.time.run(10_000);
  rested.crowd(50, 150);
  expect(rested.inside).toHaveLength(100);
});

test("one guest a second is let in at once", () => {
  const { inside, crowd } = open(1);
  crowd(0, 2);
  expect(inside).toEqual([0]);
});

test("who leaves the line takes no place", async () => {
  const { time, inside, admission, crowd } = open(10);
  crowd(0, 9);
  for (let guest = 5; guest < 8; guest++) admission.leave(guest);
  await time.run(100);
  expect(inside).toEqual([0, 1, 2, 3, 4, 8]);
});
