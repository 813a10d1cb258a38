import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parseId } from "../snowflake/parse.ts";
import { claimPast, type ClaimPastOptions } from "./claim-past.ts";
import { openSnowlane } from "./open-snowlane.ts";

let folder: string;
let options: ClaimPastOptions;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "snowlane-past-"));
  const store = `sqlite:${join(folder, "ids.db")}`;
  const ids = await openSnowlane({ store });
  await ids.close();
  const [from, to] = [new Date("2020-01-01"), new Date("2020-01-02")];
  options = { store, from, to, knownSince: "always", reason: "orders" };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("a claim gives IDs with the times of rows, and two claims of one interval share none", async () => {
  const claims = [await claimPast(options), await claimPast(options)];
  const times = Array.from({ length: 10_000 }, (_, row) => new Date(options.from.getTime() + (row >> 12)));
  const ids = claims.flatMap((claim) => times.map((time) => claim.idFor(time)));
  expect(new Set(ids).size).toBe(20_000);
  const { layout, lanes } = claims[0]!;
  expect(parseId(layout, ids[4_096]!)).toMatchObject({ ...lanes[0]!, createTimeMs: options.from.getTime() + 1 });
});

test("a row that is before the claim, after it, or out of order gets none", async () => {
  const claim = await claimPast({ ...options, lagMaxMs: 10 });
  expect(() => claim.idFor(new Date("2019-12-31T23:59:59.999Z"))).toThrow("is not in the claim");
  expect(() => claim.idFor(new Date(Number.NaN))).toThrow("no time");
  claim.idFor(new Date("2020-01-01T00:00:01Z"));
  claim.idFor(new Date("2020-01-01T00:00:00.990Z"));
  expect(() => claim.idFor(new Date("2020-01-01T00:00:00.989Z"))).toThrow("sort the rows by time");
  expect(() => claim.idFor(new Date("2020-01-02"))).toThrow(expect.objectContaining({ reason: "INVALID_TIME_RANGE" }));
});

test("what is wrong with the options is said, and nothing is claimed", async () => {
  const { knownSince: _, ...unstated } = options;
  await expect(claimPast(unstated as ClaimPastOptions)).rejects.toThrow("Give knownSince.");
  await expect(claimPast({ ...options, lanes: 17 })).rejects.toThrow("lanes is 17. Give a whole number from 1 to 16.");
  await expect(claimPast({ ...options, to: new Date("2100-01-01") })).rejects.toMatchObject({
    reason: "INVALID_TIME_RANGE",
  });
  await expect(claimPast({ ...options, store: `sqlite:${join(folder, "none.db")}` })).rejects.toMatchObject({
    reason: "INVALID_CONFIG",
  });
  const { layout, lanes } = await claimPast(options);
  expect(lanes[0]).toEqual({ datacenterId: layout.datacenter.max, workerId: layout.worker.max });
});
