import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { temporaryFolder } from "../../test/support/processes/running-server.ts";
import { layouts } from "../snowflake/presets.ts";
import { idsOf } from "../snowflake/run.ts";
import { createTextCodec } from "../text/text-codec.ts";
import { openSnowlane, type SnowlaneOptions } from "./open-snowlane.ts";
import type { IdSource, ReserveRequest } from "../worker/id-source.ts";
import { type CallOptions, Snowlane, type StreamOptions } from "./snowlane.ts";

beforeEach(() => vi.stubEnv("SNOWLANE_STORE", undefined));
afterEach(() => vi.unstubAllEnvs());

/** Opens a separate store for a test, and closes it afterwards. */
async function open(options: SnowlaneOptions = {}): Promise<Snowlane> {
  const ids = await openSnowlane({ store: `sqlite:${join(temporaryFolder(), "ids.db")}`, ...options });
  onTestFinished(() => ids.close());
  return ids;
}

test("the store alone is enough: the first ID comes without a promise, by the layout twitter", async () => {
  const ids = await open();
  const beforeMs = Date.now();
  const id = ids.nextId();
  expect(typeof id).toBe("bigint");
  expect(ids.layout).toBe(layouts.twitter);
  expect(ids.parse(await id).createTimeMs).toBeGreaterThanOrEqual(beforeMs);
  expect(ids.status()).toMatchObject({ phase: "holding", state: { kind: "serving" } });
});

test("SNOWLANE_STORE names the store where the options do not", async () => {
  vi.stubEnv("SNOWLANE_STORE", `sqlite:${join(temporaryFolder(), "ids.db")}`);
  const ids = await openSnowlane();
  onTestFinished(() => ids.close());
  expect(ids.nextId()).toBeTypeOf("bigint");
});

test.each([undefined, ""])("without a store (SNOWLANE_STORE %j) the error says what to name", async (store) => {
  vi.stubEnv("SNOWLANE_STORE", store);
  const error = { name: "IdError", reason: "INVALID_CONFIG", message: expect.stringContaining("sqlite:ids.db") };
  await expect(openSnowlane()).rejects.toMatchObject(error);
});

test("two on one store never make the same ID", async () => {
  const store = `sqlite:${join(temporaryFolder(), "ids.db")}`;
  const [one, other] = await Promise.all([open({ store }), open({ store })]);
  const both = (await Promise.all([one.nextIds(5_000), other.nextIds(5_000)])).flat();
  expect(new Set(both).size).toBe(10_000);
});

test("nextId past what can be had at once is a promise; none repeats", async () => {
  const fields = [
    { kind: "timestamp", bits: 41 },
    { kind: "worker", bits: 10 },
    { kind: "sequence", bits: 2 },
  ] as const;
  const ids = await open({ waitMaxMs: 60_000, layout: { name: "custom", epochMs: 0, tickNs: 1_000_000, fields } });
  const all = Array.from({ length: 500 }, () => ids.nextId());
  expect(all.filter((id) => typeof id === "bigint").length).toBeGreaterThan(4);
  expect(all.at(-1)).toBeInstanceOf(Promise);
  expect(new Set(await Promise.all(all.map(async (id) => id))).size).toBe(all.length);
});

test("nextIds, stream and reserve make what they are asked for, each ID once", async () => {
  const ids = await open();
  const all = await ids.nextIds(3);
  const sizes: number[] = [];
  for await (const chunk of ids.stream(10, { chunkSize: 4, ordered: true })) {
    sizes.push(chunk.length);
    all.push(...chunk);
  }
  expect(sizes).toEqual([4, 4, 2]);
  all.push(...idsOf(await ids.reserve(100)));
  expect(all).toHaveLength(113);
  expect(all).toEqual([...new Set(all)].toSorted((a, b) => (a < b ? -1 : 1)));
});

test("a stream of 50,000 leaves the worker ID its turns, and holds to its count", async () => {
  const ids = await open();
  let count = 0;
  for await (const chunk of ids.stream(50_000)) count += chunk.length;
  expect(count).toBe(50_000);
  expect(ids.status().counters.issued).toBe(50_000);
});

test("parse reads an ID and its texts by the layout and the namespace", async () => {
  const ids = await open({ namespace: "orders" });
  const id = await ids.nextId();
  const codec = createTextCodec({ layout: ids.layout, namespace: "orders" });
  for (const form of ["decimal", "base58", "uuid"] as const) {
    expect(ids.parse(codec.writer({ form })(id)).id).toBe(id);
  }
  const foreign = createTextCodec({ layout: ids.layout, namespace: "invoices" }).writer({ form: "uuid" })(id);
  const error = { name: "IdError", reason: "MALFORMED_TEXT" };
  expect(() => ids.parse(foreign)).toThrow(expect.objectContaining(error));
});

test("idRange holds the IDs of an interval, given as dates or as nanoseconds", async () => {
  const ids = await open();
  const id = await ids.nextId();
  const { createTimeMs } = ids.parse(id);
  const range = ids.idRange(new Date(createTimeMs), new Date(createTimeMs + 1));
  expect(range.firstId <= id && id <= range.lastId).toBe(true);
  const startNs = BigInt(createTimeMs) * 1_000_000n;
  expect(ids.idRange(startNs, startNs + 1_000_000n)).toEqual(range);
});

test("after close every call is SHUTTING_DOWN, as a rejection, and closing again does no harm", async () => {
  const ids = await open();
  await Promise.all([ids.close(), ids.close()]);
  const error = { name: "IdError", reason: "SHUTTING_DOWN" };
  await expect(ids.nextId()).rejects.toMatchObject(error);
  await expect(ids.nextIds(2)).rejects.toMatchObject(error);
  await expect(ids.reserve(2)).rejects.toMatchObject(error);
  await expect(ids.stream(2).next()).rejects.toMatchObject(error);
});

test("`await using` gives the worker ID back", async () => {
  const store = `sqlite:${join(temporaryFolder(), "ids.db")}`;
  const pinned = { store, datacenterId: 0, workerId: 7, startPatienceMs: 0 };
  {
    await using first = await openSnowlane(pinned);
    expect(first.parse(await first.nextId()).workerId).toBe(7);
    await expect(openSnowlane(pinned)).rejects.toMatchObject({ reason: "NO_FREE_WORKER_ID" });
  }
  const second = await open(pinned);
  expect(second.nextId()).toBeTypeOf("bigint");
});

const mistakes: readonly (readonly [string, unknown, string, string])[] = [
  ["null as options", null, "INVALID_CONFIG", "one object"],
  ["an unknown option", { storeUrl: "sqlite:ids.db" }, "INVALID_CONFIG", "There is no option storeUrl"],
  ["a store that is not a text", { store: 5 }, "INVALID_CONFIG", "store is a number"],
  ["an unknown scheme", { store: "mongodb://u:secret@h" }, "INVALID_CONFIG", "mongodb:"],
  ["a malformed namespace", { namespace: "A b" }, "INVALID_CONFIG", "namespace"],
  ["an unknown preset", { layout: "tweeter" }, "INVALID_LAYOUT", "tweeter"],
  ["a datacenter ID above the layout's", { datacenterId: 32 }, "INVALID_CONFIG", "datacenter_id"],
  ["a datacenter ID with a fraction", { datacenterId: 1.5 }, "INVALID_CONFIG", "datacenterId is 1.5"],
  ["a worker ID as text", { datacenterId: 0, workerId: "7" }, "INVALID_CONFIG", 'workerId is "7"'],
  ["datacenter IDs with a fraction", { datacenterIds: [0.5] }, "INVALID_CONFIG", "datacenterIds"],
  ["worker IDs that are not a range", { workerIds: { first: 0.5, last: 3 } }, "INVALID_CONFIG", "workerIds"],
  ["an unknown policy", { rollbackPolicy: "hope" }, "INVALID_CONFIG", "advance"],
  ["a burst that is not a number", { burstMs: Number.NaN }, "INVALID_CONFIG", "burstMs"],
  ["a window that is too short", { windowMs: 1 }, "INVALID_CONFIG", "window_ms"],
  ["a window that is not a number", { windowMs: Number.NaN }, "INVALID_CONFIG", "window_ms"],
  ["a negative wait", { waitMaxMs: -1 }, "INVALID_CONFIG", "waitMaxMs"],
  ["a listener that is not a function", { onEvent: "log" }, "INVALID_CONFIG", "onEvent"],
  ["a signal that is not an AbortSignal", { signal: {} }, "INVALID_CONFIG", "AbortSignal"],
];

test.each(mistakes)("%s is an IdError that names it", async (_, options, reason, named) => {
  const all =
    options === null ? null : { store: `sqlite:${join(temporaryFolder(), "ids.db")}`, ...(options as object) };
  const message = expect.stringContaining(named);
  const error = await openSnowlane(all as SnowlaneOptions).then(
    () => expect.unreachable(),
    (cause: unknown) => cause,
  );
  expect(error).toMatchObject({ name: "IdError", reason, message });
  expect(JSON.stringify(error) + String(error)).not.toContain("secret");
});

const callMistakes: readonly (readonly [string, (ids: Snowlane) => unknown, string])[] = [
  ["a count of 0", (ids) => ids.nextIds(0), "COUNT_OUT_OF_RANGE"],
  ["a count above 1,048,576", (ids) => ids.nextIds(1_048_577), "COUNT_OUT_OF_RANGE"],
  ["a count with a fraction", (ids) => ids.reserve(1.5), "COUNT_OUT_OF_RANGE"],
  ["a bigint as count", (ids) => ids.reserve(1n as unknown as number), "COUNT_OUT_OF_RANGE"],
  ["a stream above 10^9", (ids) => ids.stream(1e9 + 1).next(), "COUNT_OUT_OF_RANGE"],
  ["a chunk of 0", (ids) => ids.stream(1, { chunkSize: 0 }).next(), "INVALID_CONFIG"],
  ["null as options", (ids) => ids.stream(1, null as unknown as StreamOptions).next(), "INVALID_CONFIG"],
  ["a timeout that is not a number", (ids) => ids.reserve(1, { timeoutMs: Number.NaN }), "INVALID_CONFIG"],
  ["an unknown option of a call", (ids) => ids.nextIds(1, { timeout: 5 } as CallOptions), "INVALID_CONFIG"],
  ["a number as ID", (ids) => ids.parse(5 as unknown as bigint), "MALFORMED_ID"],
  ["a negative ID", (ids) => ids.parse(-1n), "MALFORMED_ID"],
  ["a text that is not an ID", (ids) => ids.parse("hello world"), "MALFORMED_TEXT"],
  ["an invalid date", (ids) => ids.idRange(new Date(Number.NaN), new Date()), "INVALID_TIME_RANGE"],
  ["a text as date", (ids) => ids.idRange("2026" as unknown as Date, new Date()), "INVALID_TIME_RANGE"],
  ["a reversed interval", (ids) => ids.idRange(5n, 4n), "INVALID_TIME_RANGE"],
];

test("each mistake in a call is an IdError, and the next call gets its ID", async () => {
  const ids = await open();
  for (const [name, call, reason] of callMistakes) {
    await expect((async () => call(ids))(), name).rejects.toMatchObject({ name: "IdError", reason });
    expect(await ids.nextId(), name).toBeTypeOf("bigint");
  }
});

test("a signal ends a stream between chunks, with its reason", async () => {
  const ids = await open();
  const controller = new AbortController();
  const chunks = ids.stream(1_000_000, { signal: controller.signal });
  await chunks.next();
  controller.abort(new Error("enough"));
  await expect(chunks.next()).rejects.toThrow("enough");
});

test("only an ordered stream binds its further chunks to the rising span of the first", async () => {
  const requests: ReserveRequest[] = [];
  const runs = [{ firstId: 1n, count: 1, stride: 1n }];
  const reserve: IdSource["reserve"] = (request) => {
    requests.push(request);
    return { runs, count: 1, risingSpan: 7 };
  };
  const source = { layout: layouts.twitter, reserveCountMax: 10, reserve } as Partial<IdSource> as IdSource;
  const ids = new Snowlane({ source, close: async () => {} }, "default");
  for await (const chunk of ids.stream(3, { ordered: true })) expect(chunk).toEqual([1n]);
  await ids.nextIds(2);
  expect(requests.map(({ risingSpan }) => risingSpan)).toEqual([undefined, 7, 7, undefined, undefined]);
});
