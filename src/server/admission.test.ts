import { expect, test } from "vitest";
import { ManualTime } from "../../test/support/manual-time.ts";
import { Admission } from "./admission.ts";

function open(perSecond: number) {
  const time = new ManualTime();
  const inside: number[] = [];
  const limits = { perSecond, violationsPerSecond: 10, lineMax: 20_000 };
  const admission = new Admission<number>(limits, time, (guest) => inside.push(guest));
  const crowd = (first: number, end: number, from = "here"): void => {
    for (let guest = first; guest < end; guest++) admission.ask(guest, from);
  };
  return { time, inside, admission, crowd };
}

test("half a second's guests come in four in a millisecond, the rest at the rate, in their order", async () => {
  const { time, inside, crowd } = open(1_000);
  crowd(0, 800);
  expect(inside).toHaveLength(4);
  await time.run(100);
  expect(inside).toHaveLength(404);
  // All of the half second, and what the rate has given meanwhile.
  await time.run(100);
  expect(inside).toHaveLength(700);
  await time.run(1_000);
  expect(inside).toEqual(Array.from({ length: 800 }, (_, guest) => guest));
});

test("where the rate is more than four in a millisecond, it is not kept down by that", async () => {
  const { time, inside, crowd } = open(10_000);
  crowd(0, 15_000);
  await time.run(1_000);
  expect(inside).toHaveLength(15_000);
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
  const rested = open(10);
  rested.crowd(0, 5);
  await rested.time.run(10_000);
  rested.crowd(5, 15);
  await rested.time.run(2);
  expect(rested.inside).toHaveLength(10);
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
  expect(inside).toEqual([0, 1, 2, 3, 4, 2_000, 3_000, 5, 2_001, 6, 7]);
});

test("who asks when too many from there wait is refused, others are not", () => {
  const admission = new Admission<number>(
    { perSecond: 2, violationsPerSecond: 10, lineMax: 3 },
    new ManualTime(),
    () => undefined,
  );
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
  const admission = new Admission<number>(
    { perSecond: 1, violationsPerSecond: 10, lineMax: 3 },
    counted,
    () => undefined,
  );
  admission.ask(0, "here");
  for (let guest = 1; guest < 100; guest++) {
    admission.ask(guest, "here");
    admission.leave(guest, "here");
  }
  expect(looks).toBe(1);
  await time.run(5);
  expect(looks).toBe(1);
});

/** Charges a place so often; says for which of them its line began to wait. */
const charges = (admission: Admission<number>, count: number, from: string): readonly number[] =>
  Array.from({ length: count }, (_, index) => index).filter(() => admission.charge(from));

test("a place that breaks rules more often than half a second has waits, and others do not", async () => {
  const { time, inside, admission, crowd } = open(1_000);
  expect(charges(admission, 5, "here")).toEqual([]);
  crowd(0, 3);
  expect(inside).toEqual([0, 1, 2]);
  expect(charges(admission, 5, "here")).toHaveLength(1);
  crowd(3, 5);
  crowd(10, 12, "there");
  // Somebody waits already, so the next look lets them in.
  await time.run(1);
  expect(inside).toEqual([0, 1, 2, 10, 11]);
  await time.run(498);
  expect(inside).toHaveLength(5);
  await time.run(2);
  expect(inside).toEqual([0, 1, 2, 10, 11, 3, 4]);
});

test("attackers who come back as soon as they are ended come back at the rate of violations", async () => {
  const time = new ManualTime();
  let ended = 0;
  const limits = { perSecond: 1_000, violationsPerSecond: 10, lineMax: 100 };
  const admission: Admission<number> = new Admission<number>(limits, time, (guest) => {
    ended++;
    admission.charge("here");
    admission.ask(guest, "here");
  });
  for (let guest = 0; guest < 4; guest++) admission.ask(guest, "here");
  await time.run(10_000);
  expect(ended).toBeGreaterThanOrEqual(100);
  expect(ended).toBeLessThanOrEqual(110);
});

test("nobody waits for ever for what others did", async () => {
  const { time, inside, admission, crowd } = open(1_000);
  charges(admission, 10_000, "here");
  crowd(0, 1);
  await time.run(1_999);
  expect(inside).toEqual([]);
  await time.run(2);
  expect(inside).toEqual([0]);
});

test("it is crowded while the rate keeps somebody out, not while violations do", async () => {
  const { time, admission, crowd } = open(10);
  crowd(0, 7);
  expect(admission.isCrowded).toBe(true);
  await time.run(200);
  expect(admission.isCrowded).toBe(false);
  charges(admission, 10, "here");
  crowd(7, 8);
  expect(admission.isCrowded).toBe(false);
});

test("one violation a second is free where one a second is allowed", () => {
  const inside: number[] = [];
  const limits = { perSecond: 1_000, violationsPerSecond: 1, lineMax: 10 };
  const admission = new Admission<number>(limits, new ManualTime(), (guest) => inside.push(guest));
  expect(charges(admission, 1, "here")).toEqual([]);
  admission.ask(0, "here");
  expect(charges(admission, 1, "here")).toEqual([0]);
  admission.ask(1, "here");
  expect(inside).toEqual([0]);
});
