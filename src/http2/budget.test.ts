import { expect, test } from "vitest";
import { Budget } from "./budget.ts";

function spendAll(budget: Budget, nowMs: number): number {
  for (let count = 0; ; count++) {
    try {
      budget.spend(nowMs);
    } catch {
      return count;
    }
  }
}

test("a burst passes, then the rate", () => {
  const budget = new Budget({ what: "things", burst: 10, perSecond: 5 }, 0);
  expect(spendAll(budget, 0)).toBe(10);
  expect(spendAll(budget, 1_000)).toBe(5);
  const sum = Array.from({ length: 10 }, (_, second) => spendAll(budget, 2_000 + second * 1_000)).reduce(
    (a, b) => a + b,
  );
  expect(sum).toBe(50);
});

test("it never holds more than a burst", () => {
  const budget = new Budget({ what: "things", burst: 10, perSecond: 5 }, 0);
  spendAll(budget, 0);
  expect(spendAll(budget, 1e9)).toBe(10);
  for (let index = 0; index < 100; index++) budget.refund();
  expect(spendAll(budget, 1e9)).toBe(10);
});

test("time that passed before the first shortage counts too", () => {
  const budget = new Budget({ what: "things", burst: 10, perSecond: 5 }, 0);
  for (let index = 0; index < 10; index++) budget.spend(0);
  budget.spend(1_000);
});

test("whoever gives back as much as is spent never runs out", () => {
  const budget = new Budget({ what: "things", burst: 10, perSecond: 5 }, 0);
  for (let index = 0; index < 10_000; index++) {
    budget.spend(0);
    budget.refund();
  }
  expect(spendAll(budget, 0)).toBe(10);
});

test("its error says what there was too much of", () => {
  const budget = new Budget({ what: "things", burst: 1, perSecond: 1 }, 0);
  budget.spend(0);
  expect(() => budget.spend(0)).toThrow("too many things");
});
