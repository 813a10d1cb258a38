import { expect, test } from "vitest";
import { ManualTime } from "../../test/support/manual-time.ts";
import { Admission } from "./admission.ts";

function open(perSecond: number) {
  const time = new ManualTime();
  const inside: number[] = [];
  const limits = { perSecond, lineMax: 20_000 };
  const admission = new Admission<number>(limits, time, (guest) => inside.push(guest));
  const crowd = (first: number, end: number, from = "here"): void => {
    for (let guest = first; guest < end; guest++) admission.ask(guest, from);
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
  for (let guest = 5; guest < 8; guest++) admission.leave(guest, "here");
  await time.run(100);
  expect(inside).toEqual([0, 1, 2, 3, 4, 8]);
});

test("guests from elsewhere do not wait for a crowd: the lines take turns", async () => {
  const { time, inside, crowd } = open(10);
  crowd(0, 1_000, "here");
  crowd(2_000, 2_002, "there");
  crowd(3_000, 3_001, "far");
  await time.run(600);
  expect(inside).toEqual([0, 1, 2, 3, 4, 5, 2_000, 3_000, 6, 2_001, 7]);
});

test("who asks when too many from there wait is refused, others are not", () => {
  const admission = new Admission<number>({ perSecond: 2, lineMax: 3 }, new ManualTime(), () => undefined);
  const answers = [1, 2, 3, 4, 5].map((guest) => admission.ask(guest, "here"));
  expect(answers).toEqual([true, true, true, true, false]);
  expect(admission.ask(6, "there")).toBe(true);
  admission.leave(3, "here");
  expect(admission.ask(7, "here")).toBe(true);
});

test("a line that empties and fills again is looked at no more often", async () => {
  const time = new ManualTime();
  let looks = 0;
  const counted = {
    nowMs: () => time.nowMs(),
    monotonicMs: () => time.monotonicMs(),
    after: (delayMs: number, task: () => void) => {
      looks++;
      return time.after(delayMs, task);
    },
  };
  const admission = new Admission<number>({ perSecond: 1, lineMax: 3 }, counted, () => undefined);
  admission.ask(0, "here");
  for (let guest = 1; guest < 100; guest++) {
    admission.ask(guest, "here");
    admission.leave(guest, "here");
  }
  expect(looks).toBe(1);
  await time.run(5);
  expect(looks).toBe(1);
});
