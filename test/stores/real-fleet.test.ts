import { expect, test } from "vitest";
import { fleetStores } from "./fleet-stores.ts";
import { measureFleet } from "./measure-fleet.ts";

test.each(Object.keys(fleetStores))("processes that start at once on %s differ in worker ID", async (kind) => {
  const measures = await measureFleet(kind, { processes: 6, restMs: 12_000, outageMs: 1_000 });
  expect(measures).toMatchObject({ processes: 6, repeated: 0, ...(kind === "sqlite" ? {} : { connections: 6 }) });
  // Layout, incarnation, and a record each; PostgreSQL counts a write up to a second later.
  expect(measures.startWrites).toBeLessThanOrEqual(8 + 2);
  expect(measures.writesPerSecond).toBeGreaterThan(0);
  expect(measures.writesPerSecond).toBeLessThanOrEqual(6);
  if (kind !== "sqlite") expect(measures.outage).toMatchObject({ endedGrants: 0 });
});
