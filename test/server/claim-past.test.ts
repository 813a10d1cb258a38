import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runInProcess } from "../cli/in-process.ts";
import { startSnowlane } from "../support/processes/snowlane-process.ts";

type Json = Readonly<Record<string, unknown>>;

let folder: string;
let stops: (() => Promise<unknown>)[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "snowlane-claim-past-"));
  stops = [];
});
afterEach(async () => {
  for (const stop of stops) await stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a server on the folder's store, and gives what calls it. */
async function serve(...args: readonly string[]) {
  const server = await startSnowlane({ args: ["--store", `sqlite:${join(folder, "ids.db")}`, ...args] });
  const stop = () => server.stop("SIGTERM");
  stops.push(stop);
  const call = async (method: string, request: Json): Promise<Json> => {
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify(request) };
    return (await (await fetch(`${server.url}/snowlane.v1.${method}`, init)).json()) as Json;
  };
  return { server, stop, call };
}

async function cli(args: readonly string[]): Promise<string> {
  const { code, stdout } = await runInProcess(args);
  expect(code).toBe(0);
  return stdout;
}

const year = { fromTime: "2020-01-01T00:00:00Z", toTime: "2021-01-01T00:00:00Z", reason: "orders" };

async function fingerprint(): Promise<string> {
  const { call, stop } = await serve();
  expect(await call("AdminService/ClaimPast", year)).toMatchObject({ code: "unimplemented" });
  const { deploymentFingerprint } = await call("IdService/GetInfo", {});
  await stop();
  stops = [];
  return deploymentFingerprint as string;
}

test("ClaimPast is off without a statement; with one, each call claims other worker IDs, while the server issues", async () => {
  const ofStore = await fingerprint();
  const { call, server } = await serve("--backfill-known-since", `${ofStore}@always`);
  const claims = [
    await call("AdminService/ClaimPast", { ...year, laneCount: 2 }),
    await call("AdminService/ClaimPast", year),
  ];
  expect(claims[0]).toMatchObject({ fromTime: year.fromTime, toTime: year.toTime, firstTick: "289001825343" });
  const lanes = claims.flatMap((claim) => claim["lanes"] as readonly { readonly idBits: string }[]);
  expect(new Set(lanes.map(({ idBits }) => idBits)).size).toBe(3);
  const { id } = await call("IdService/NextId", {});
  expect(claims[0]!["deployment"]).toBe(Number.parseInt(ofStore.slice(0, 8), 16));
  const { datacenterId, workerId } = await call("IdService/Parse", { text: String(id) });
  expect(lanes).not.toContainEqual(expect.objectContaining({ datacenterId, workerId }));
  expect(server.log.map(({ message }) => message)).toContain("A piece of the past was claimed");
  // The claims are not holders: only this server and the one before are.
  const { neverHeldCount, workers } = await call("AdminService/ListWorkers", {});
  expect(neverHeldCount).toBe("1022");
  const status = async (): Promise<unknown> => (await call("AdminService/GetStatus", {}))["status"];
  await expect.poll(status).toMatchObject({ neverHeldCount: "1022" });
  expect(await (await fetch(`${server.url}/metrics`)).text()).toMatch(/^snowlane_never_held_worker_ids 1022$/m);
  expect(await cli(["status", "--server", server.url])).toMatch(/^past {4}1022 worker IDs were never held$/m);
  const shown = "1 held, 4 released; 1023 of 1024 worker IDs are free.\n1022 were never held, and the past of 1019 is";
  expect(await cli(["workers", "--server", server.url])).toContain(shown);
  expect(JSON.stringify(workers)).toContain("past 2020-01-01T00:00:00Z..2021-01-01T00:00:00Z orders");
});

test("what is wrong with a request is named by its field, and nothing is claimed", async () => {
  const { call } = await serve("--backfill-known-since", `${await fingerprint()}@2020-06-01T00:00:00Z`);
  const reasonOf = async (change: Json): Promise<unknown> =>
    JSON.stringify(await call("AdminService/ClaimPast", { ...year, ...change }));
  expect(await reasonOf({})).toContain("INVALID_TIME_RANGE");
  expect(await reasonOf({ toTime: "2070-01-01T00:00:00Z", fromTime: "2021-01-01T00:00:00Z" })).toContain("future");
  expect(await reasonOf({ laneCount: 17 })).toContain("COUNT_OUT_OF_RANGE");
  expect(await reasonOf({ reason: "" })).toContain("MALFORMED_TEXT");
  expect(await reasonOf({ fromTime: undefined })).toContain("INVALID_TIME_RANGE");
  expect(await reasonOf({ fromTime: "2020-07-01T00:00:00Z" })).toContain("firstTick");
});

test("a statement about another store leaves ClaimPast off, and the start says so; one about the future ends the start", async () => {
  await fingerprint();
  const { call, server } = await serve("--backfill-known-since", `${"0".repeat(32)}@always`);
  expect(await call("AdminService/ClaimPast", year)).toMatchObject({ code: "unimplemented" });
  expect(server.log.map(({ message }) => message)).toContain(
    "ClaimPast is off: --backfill-known-since is about another store",
  );
  await expect(serve("--backfill-known-since", `${"0".repeat(32)}@2100-01-01T00:00:00Z`)).rejects.toThrow();
});
