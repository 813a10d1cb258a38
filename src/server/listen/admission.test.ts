import { expect, test } from "vitest";
import { ManualTime } from "../../../test/support/worlds/manual-time.ts";
import { Admission } from "./admission.ts";

function open(perSecond: number) {
  const time = new ManualTime();
  const admitted: number[] = [];
  const limits = { perSecond, queuedMax: 20_000 };
  const admission = new Admission<number>(limits, time, (connection) => admitted.push(connection));
  const crowd = (first: number, end: number, network = "here"): void => {
    for (let connection = first; connection < end; connection++) admission.request(connection, network);
  };
  return { time, admitted, admission, crowd };
}

test("half a second's worth is admitted, four in a millisecond, then the rest at the rate, in order", async () => {
  const { time, admitted, crowd } = open(1_000);
  crowd(0, 800);
  expect(admitted).toHaveLength(4);
  await time.run(100);
  expect(admitted).toHaveLength(404);
  // The whole half second's worth, and what the rate has added meanwhile.
  await time.run(100);
  expect(admitted).toHaveLength(700);
  await time.run(1_000);
  expect(admitted).toEqual(Array.from({ length: 800 }, (_, connection) => connection));
});

test("a rate above four in a millisecond is reached", async () => {
  const { time, admitted, crowd } = open(10_000);
  crowd(0, 15_000);
  await time.run(1_000);
  expect(admitted).toHaveLength(15_000);
});

test("a later connection waits behind those that wait", async () => {
  const { time, admitted, crowd } = open(10);
  crowd(0, 7);
  await time.run(50);
  crowd(7, 8);
  expect(admitted).toHaveLength(5);
  await time.run(1_000);
  expect(admitted).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
});

test("over a long time the rate holds, and after a rest there is a whole burst again", async () => {
  const { time, admitted, crowd } = open(100);
  crowd(0, 10_000);
  await time.run(10_000);
  expect(admitted).toHaveLength(50 + 1_000);
  const rested = open(10);
  rested.crowd(0, 5);
  await rested.time.run(10_000);
  rested.crowd(5, 15);
  await rested.time.run(2);
  expect(rested.admitted).toHaveLength(10);
});

test("at one a second the first connection is admitted at once", () => {
  const { admitted, crowd } = open(1);
  crowd(0, 2);
  expect(admitted).toEqual([0]);
});

test("a connection that leaves its queue takes no turn", async () => {
  const { time, admitted, admission, crowd } = open(10);
  crowd(0, 9);
  for (let connection = 5; connection < 8; connection++) admission.withdraw(connection, "here");
  await time.run(100);
  expect(admitted).toEqual([0, 1, 2, 3, 4, 8]);
});

test("connections of other networks do not wait for a crowd: the queues take turns", async () => {
  const { time, admitted, crowd } = open(10);
  crowd(0, 1_000, "here");
  crowd(2_000, 2_002, "there");
  crowd(3_000, 3_001, "far");
  await time.run(600);
  expect(admitted).toEqual([0, 1, 2, 3, 4, 2_000, 3_000, 5, 2_001, 6, 7]);
});

test("a connection is refused when too many of its network wait, others are not", () => {
  const admission = new Admission<number>({ perSecond: 2, queuedMax: 3 }, new ManualTime(), () => undefined);
  const answers = [1, 2, 3, 4, 5].map((connection) => admission.request(connection, "here"));
  expect(answers).toEqual([true, true, true, true, false]);
  expect(admission.request(6, "there")).toBe(true);
  admission.withdraw(3, "here");
  expect(admission.request(7, "here")).toBe(true);
});

test("a queue that empties and fills again is looked at no more often", async () => {
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
  const admission = new Admission<number>({ perSecond: 1, queuedMax: 3 }, counted, () => undefined);
  admission.request(0, "here");
  for (let connection = 1; connection < 100; connection++) {
    admission.request(connection, "here");
    admission.withdraw(connection, "here");
  }
  expect(looks).toBe(1);
  await time.run(5);
  expect(looks).toBe(1);
});

test("it is crowded while a connection waits", async () => {
  const { time, admission, crowd } = open(10);
  crowd(0, 7);
  expect(admission.isCrowded).toBe(true);
  await time.run(200);
  expect(admission.isCrowded).toBe(false);
});
