import { expect, test } from "vitest";
import { StoreChanges } from "./store-changes.ts";

test("a change that comes while an earlier one is being noted is still owed", () => {
  const storeChanges = new StoreChanges();
  storeChanges.see("system=1");
  storeChanges.see("system=2");
  const { changes } = storeChanges;
  storeChanges.see("system=3");
  storeChanges.reported(changes);
  expect(storeChanges.hasUnreported).toBe(true);
  storeChanges.reported(storeChanges.changes);
  expect(storeChanges.hasUnreported).toBe(false);
});

test("a note that was decided before another one takes nothing back from it", () => {
  const storeChanges = new StoreChanges();
  storeChanges.see("system=1");
  storeChanges.see("system=2");
  const earlier = storeChanges.changes;
  storeChanges.see("system=3");
  storeChanges.reported(storeChanges.changes);
  storeChanges.reported(earlier);
  expect(storeChanges.hasUnreported).toBe(false);
});

test("a part that some answers do not tell is remembered, and another value of it is a change", () => {
  const storeChanges = new StoreChanges();
  storeChanges.see("system=1 timeline=1");
  storeChanges.see("system=1");
  storeChanges.see("system=1 timeline=1");
  expect(storeChanges.changes).toBe(0);
  storeChanges.see("system=1");
  storeChanges.see("system=1 timeline=2");
  expect(storeChanges.changes).toBe(1);
});
