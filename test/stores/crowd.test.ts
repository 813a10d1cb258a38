import { expect, test } from "vitest";
import { runCrowd } from "./crowd.ts";

const serverCount = 16;
const run = { serverCount, runMs: 50_000, lastMs: 20_000 };

test("more servers than a database has connections: those that serve go on, and the others ask ever more rarely", async () => {
  // One of them is the test's.
  const { most, serving, lapsed, tried, triedLast } = await runCrowd({
    ...run,
    connectionCount: 10,
    poolSize: undefined,
  });
  expect(most).toBeLessThanOrEqual(9);
  expect(serving).toBeGreaterThan(5);
  expect(serving).toBeLessThanOrEqual(most);
  expect(lapsed).toBe(0);
  // Each second, as at first, would be some 150 of them.
  expect(triedLast).toBeGreaterThan(0);
  expect(triedLast / run.lastMs).toBeLessThan((tried - triedLast) / (run.runMs - run.lastMs) / 2);
});

test("through PgBouncer all of them serve on the few connections that it keeps", async () => {
  const { most, serving, lapsed } = await runCrowd({ ...run, runMs: 30_000, connectionCount: 30, poolSize: 3 });
  expect(serving).toBe(serverCount);
  expect(most).toBeLessThanOrEqual(3);
  expect(lapsed).toBe(0);
});
