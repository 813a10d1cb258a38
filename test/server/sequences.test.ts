import { Code, ConnectError, createClient, type Client } from "@connectrpc/connect";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { copyFileSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "../../src/gen/google/rpc/error_details_pb.ts";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../../src/gen/grpc/health/v1/health_pb.ts";
import { IdService } from "../../src/gen/snowlane/v1/id_service_pb.ts";
import { Allocation, Period, SequenceService } from "../../src/gen/snowlane/v1/sequence_service_pb.ts";
import { scrape } from "../support/metrics/scrape.ts";
import { runServer, temporaryFolder } from "../support/processes/running-server.ts";
import { runInProcess } from "../cli/in-process.ts";

type Sequences = Client<typeof SequenceService>;

const patient = { waitMax: "30s", sequenceStoreTimeout: "20s" } as const;

async function start(flags: Readonly<Record<string, string>> = {}) {
  const { url, server, log } = await runServer({ ...patient, ...flags });
  return { url, server, log, client: createClient(SequenceService, createGrpcTransport({ baseUrl: url })) };
}

/** The reason and the field of a call that is refused. */
async function refusalOf(
  call: Promise<unknown>,
): Promise<readonly [reason: string, field: string | undefined, code: Code]> {
  const error = ConnectError.from(
    await call.then(
      () => undefined,
      (thrown: unknown) => thrown,
    ),
  );
  const [info] = error.findDetails(ErrorInfoSchema);
  const [bad] = error.findDetails(BadRequestSchema);
  return [info?.reason ?? error.rawMessage, bad?.fieldViolations[0]?.field, error.code];
}

/** The operator's cure, without the 30 seconds after it. */
async function raiseAndOpen(store: string, file: string, count: string): Promise<void> {
  const raise = ["sequences", "raise", "--all", "--by", count, "--reason", "a test", "--store", store];
  expect(await runInProcess(raise)).toMatchObject({ code: 0 });
  expect(await runInProcess(["sequences", "open", "--store", store])).toMatchObject({ code: 0 });
  const database = new DatabaseSync(file, { timeout: 20_000 });
  database.exec("UPDATE snowlane_sequence_place SET open_ms = 0");
  database.close();
}

const create = async (client: Sequences, sequence: Parameters<Sequences["createSequence"]>[0]["sequence"]) =>
  (await client.createSequence({ sequence: sequence! })).sequence!;

test("a sequence counts one by one, as runs and as a stream, without a gap over an orderly restart", async () => {
  const store = `sqlite:${join(temporaryFolder(), "s.db")}`;
  const first = await start({ store });
  await create(first.client, { name: "orders", textTemplate: "O-{value:04}" });
  expect(await first.client.nextValue({ name: "orders" })).toMatchObject({ value: 1n, text: "O-0001", periodKey: "" });
  expect((await first.client.reserveValues({ name: "orders", count: 5 })).runs).toMatchObject([
    { firstValue: 2n, count: 5, increment: 1n },
  ]);
  const streamed: bigint[] = [];
  for await (const { values, texts } of first.client.batchNextValues({ name: "orders", count: 300n, chunkSize: 64 })) {
    expect(texts).toEqual(values.map((value) => `O-${String(value).padStart(4, "0")}`));
    streamed.push(...values);
  }
  expect(streamed).toEqual(Array.from({ length: 300 }, (_, index) => BigInt(index + 7)));
  await first.server.stop();
  const second = await start({ store });
  expect((await second.client.nextValue({ name: "orders" })).value).toBe(307n);
});

test("a strict sequence shows no gap over 10,000 values to callers at once, and takes nothing ahead", async () => {
  const { client } = await start();
  await create(client, { name: "invoices", allocation: Allocation.STRICT });
  const values: number[] = [];
  for (let round = 0; round < 10; round += 1) {
    const calls = Array.from({ length: 1_000 }, () => client.nextValue({ name: "invoices" }));
    values.push(...(await Promise.all(calls)).map(({ value }) => Number(value)));
  }
  const sorted = values.toSorted((a, b) => a - b);
  expect(sorted).toEqual(Array.from({ length: 10_000 }, (_, index) => index + 1));
  expect((await client.getSequence({ name: "invoices" })).sequence!.nextValue).toBe(10_001n);
});

test("a sequence with a period writes the date of its zone, and says its period", async () => {
  const { client } = await start();
  const definition = {
    name: "daily",
    period: Period.DAY,
    timeZone: "Asia/Tokyo",
    textTemplate: "{yyyy}{MM}{dd}-{value}",
  };
  await create(client, definition);
  const { value, text, periodKey } = await client.nextValue({ name: "daily" });
  expect([value, text]).toEqual([1n, `${periodKey.replaceAll("-", "")}-1`]);
  expect(Math.abs(Date.parse(periodKey) - Date.now())).toBeLessThan(2 * 86_400_000);
});

test("a sequence is listed in pages, changed by its etag, and disabled at once", async () => {
  const { client, url } = await start();
  for (const name of ["c", "a", "b.1"]) await create(client, { name });
  const { sequences, nextPageToken } = await client.listSequences({ pageSize: 2 });
  expect(sequences.map(({ name }) => name)).toEqual(["a", "b.1"]);
  const rest = await client.listSequences({ pageToken: nextPageToken });
  expect([rest.sequences.map(({ name }) => name), rest.nextPageToken]).toEqual([["c"], ""]);
  expect((await client.listSequences({ namePrefix: "b" })).sequences.length).toBe(1);
  const etag = sequences[0]!.etag;
  const change = { sequence: { name: "a", disabled: true, etag }, updateMask: { paths: ["disabled"] } };
  expect((await client.updateSequence(change)).sequence!.disabled).toBe(true);
  expect((await refusalOf(client.nextValue({ name: "a" })))[0]).toBe("SEQUENCE_DISABLED");
  const stale = { ...change, sequence: { ...change.sequence, disabled: false } };
  expect(await refusalOf(client.updateSequence(stale))).toEqual(["SEQUENCE_CHANGED", undefined, Code.Aborted]);
  const next = { sequence: { name: "c", nextValue: 50n }, updateMask: { paths: ["next_value"] } };
  expect((await client.updateSequence(next)).sequence!.nextValue).toBe(50n);
  expect((await client.nextValue({ name: "c" })).value).toBe(50n);
  const lower = { ...next, sequence: { name: "c", nextValue: 49n } };
  const downward = ["INVALID_SEQUENCE", "sequence.next_value", Code.InvalidArgument];
  expect(await refusalOf(client.updateSequence(lower))).toEqual(downward);
  const health = createClient(Health, createGrpcTransport({ baseUrl: url }));
  expect((await health.check({ service: SequenceService.typeName })).status).toBe(Status.SERVING);
});

test("fields that a server writes are refused, and so is a year that begins where none can", async () => {
  const { client } = await start();
  for (const [field, fields] of [
    ["year_start", { period: Period.YEAR, yearStart: "04-31" }],
    ["year_start", { period: Period.DAY, yearStart: "04-01" }],
    ["late_max", { lateMax: { seconds: 60n } }],
    ["late_max", { period: Period.DAY, lateMax: { seconds: 401n * 86_400n } }],
    ["late_max", { period: Period.DAY, lateMax: { seconds: -1n } }],
    ["epoch", { epoch: 1n }],
    ["closed_before", { closedBefore: "2026" }],
  ] as const) {
    const refused = ["INVALID_SEQUENCE", `sequence.${field}`, Code.InvalidArgument];
    expect(await refusalOf(client.createSequence({ sequence: { name: "a", ...fields } }))).toEqual(refused);
  }
});

test("a value for a given time is of that time's period, within the bound of the sequence, and comes once", async () => {
  const { client } = await start();
  const dayMs = 86_400_000;
  const nowMs = Date.now();
  const day = (ago: number): string => new Date(nowMs - ago * dayMs).toISOString().slice(0, 10);
  const lateMax = { seconds: 3n * 86_400n };
  const fields = { name: "a", period: Period.DAY, textTemplate: "{yyyy}{MM}{dd}-{value}", lateMax };
  const made = await create(client, fields);
  expect(made.lateMax).toMatchObject({ seconds: 3n * 86_400n });
  const valueOf = (ago: number) => client.nextValue({ name: "a", forTime: timestampFromMs(nowMs - ago * dayMs) });
  expect(await valueOf(0)).toMatchObject({ value: 1n, periodKey: day(0) });
  const late = await Promise.all(Array.from({ length: 20 }, () => valueOf(2)));
  expect(late.map(({ value }) => Number(value)).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 20 }, (_, index) => index + 1),
  );
  expect(late[0]).toMatchObject({ periodKey: day(2), text: expect.stringMatching(`^${day(2).replaceAll("-", "")}-`) });
  // Later callers get later values of that day.
  expect(await valueOf(2)).toMatchObject({ value: 21n });
  expect(await client.nextValue({ name: "a" })).toMatchObject({ value: 2n, periodKey: day(0) });
  const closed = ["PERIOD_CLOSED", undefined, Code.FailedPrecondition];
  for (const ago of [5, 400, -2]) expect(await refusalOf(valueOf(ago))).toEqual(closed);
  await create(client, { name: "plain" });
  const refused = await refusalOf(client.nextValue({ name: "plain", forTime: timestampFromMs(nowMs) }));
  expect(refused).toEqual(["INVALID_SEQUENCE", "for_time", Code.InvalidArgument]);
  const none = { sequence: { name: "a" }, updateMask: { paths: ["late_max"] } };
  expect((await client.updateSequence(none)).sequence!.lateMax).toBeUndefined();
  expect(await refusalOf(valueOf(2))).toEqual(closed);
});

test("a year of accounts counts by its own years, and writes them", async () => {
  const { client } = await start();
  const yearStart = "04-06";
  const now = new Date();
  const isoDay = now.toISOString().slice(5, 10);
  const year = isoDay < yearStart ? now.getUTCFullYear() - 1 : now.getUTCFullYear();
  const template = "{yyyy}-{yy+1}/{value:04}";
  const made = await create(client, { name: "bills", period: Period.YEAR, yearStart, textTemplate: template });
  expect(made).toMatchObject({ period: Period.YEAR, yearStart });
  const text = `${year}-${String(year + 1).slice(-2)}/0001`;
  expect(await client.nextValue({ name: "bills" })).toMatchObject({
    value: 1n,
    text,
    periodKey: `${year}-${yearStart}`,
  });
  const week = await create(client, { name: "weekly", period: Period.WEEK, textTemplate: "{yyyy}W{ww}/{value}" });
  expect(week).toMatchObject({ period: Period.WEEK });
  const next = await client.nextValue({ name: "weekly" });
  expect(new Date(next.periodKey).getUTCDay()).toBe(1);
  expect(next.text).toMatch(/^\d{4}W[0-5]\d\/1$/);
});

test("a sequence that one server disables is soon refused by another, although that one has values in memory", async () => {
  const store = `sqlite:${join(temporaryFolder(), "s.db")}`;
  const [one, other] = [await start({ store }), await start({ store })];
  await create(one.client, { name: "orders" });
  for (const { client } of [one, other]) await client.nextValue({ name: "orders" });
  const change = { sequence: { name: "orders", disabled: true }, updateMask: { paths: ["disabled"] } };
  expect((await one.client.updateSequence(change)).sequence!.disabled).toBe(true);
  const reason = () => refusalOf(other.client.nextValue({ name: "orders" })).then(([found]) => found);
  // Rarely, so that no further take finds out first.
  await expect.poll(reason, { interval: 2_000 }).toBe("SEQUENCE_DISABLED");
});

test("a sequence that was disabled, raised and enabled gives no value below the raise", async () => {
  const { client } = await start();
  await create(client, { name: "orders", stepMin: 100n });
  const update = (paths: string[], sequence: object) =>
    client.updateSequence({ sequence: { name: "orders", ...sequence }, updateMask: { paths } });
  expect((await client.nextValue({ name: "orders" })).value).toBe(1n);
  await update(["disabled"], { disabled: true });
  await update(["next_value"], { nextValue: 500n });
  await update(["disabled"], { disabled: false });
  expect((await client.nextValue({ name: "orders" })).value).toBe(500n);
});

test("200 busy strict sequences on SQLite let no renewal of the worker ID fail, and end no grant", async () => {
  const { client, url } = await start({ renewalPeriod: "100ms", storeTimeout: "30s", window: "60s" });
  const names = Array.from({ length: 200 }, (_, index) => `strict-${index}`);
  await Promise.all(names.map((name) => create(client, { name, allocation: Allocation.STRICT })));
  const over = new AbortController();
  const callers = names.map(async (name) => {
    for (let value = 1n; !over.signal.aborted; value += 1n) {
      expect((await client.nextValue({ name })).value).toBe(value);
    }
  });
  const countOf = async (event: string): Promise<number> =>
    (await scrape(url)).get(`snowlane_worker_events_total{event="${event}"}`) ?? Number.NaN;
  const wanted = (await countOf("renewed")) + 20;
  await vi.waitUntil(async () => (await countOf("renewed")) >= wanted, { timeout: 120_000 });
  over.abort();
  await Promise.all(callers);
  const others = await Promise.all(["acquired", "ambiguous", "lost", "lapsed", "rebased"].map(countOf));
  expect(others).toEqual([1, 0, 0, 0, 0]);
});

test("the last values are handed out, and then none", async () => {
  const { client } = await start();
  await create(client, { name: "few", startValue: 10n, increment: 5n, valueMax: 24n });
  const values = [await client.nextValue({ name: "few" }), await client.nextValue({ name: "few" })];
  expect(values.map(({ value }) => value)).toEqual([10n, 15n]);
  expect((await client.reserveValues({ name: "few", count: 9 })).runs).toMatchObject([{ firstValue: 20n, count: 1 }]);
  const exhausted = ["VALUES_EXHAUSTED", undefined, Code.FailedPrecondition];
  expect(await refusalOf(client.nextValue({ name: "few" }))).toEqual(exhausted);
  const raised = { sequence: { name: "few", valueMax: 25n }, updateMask: { paths: ["value_max"] } };
  expect((await client.updateSequence(raised)).sequence!.valueMax).toBe(25n);
});

test("an older copy of the file stops the database for every server before a value repeats", async () => {
  const folder = temporaryFolder();
  const store = `sqlite:${join(folder, "s.db")}`;
  const file = join(folder, "s.db.sequences");
  const first = await start({ store });
  await create(first.client, { name: "orders" });
  await first.client.nextValue({ name: "orders" });
  await first.server.stop();
  copyFileSync(file, `${file}.old`);
  const second = await start({ store });
  for await (const _ of second.client.batchNextValues({ name: "orders", count: 500n })) continue;
  await second.server.stop();
  copyFileSync(`${file}.old`, file);
  const third = await start({ store });
  for (let call = 0; call < 3; call += 1) {
    expect((await refusalOf(third.client.nextValue({ name: "orders" })))[0]).toBe("STORE_WENT_BACK");
  }
  expect((await refusalOf(create(third.client, { name: "other" })))[0]).toBe("STORE_WENT_BACK");
  expect(third.log.some((line) => line.includes("The database of sequences is stopped"))).toBe(true);
  await raiseAndOpen(store, file, "501");
  const next = () => third.client.nextValue({ name: "orders" }).catch(() => undefined);
  // 1 to 501 were handed out, and the copy knows of the first alone.
  expect((await vi.waitUntil(next, { timeout: 60_000 }))?.value).toBeGreaterThan(501n);
});

test("the path of a file that was deleted is in the log, and callers do not get it (they did, and the log said nothing)", async () => {
  const folder = temporaryFolder();
  const { client, log } = await start({ store: `sqlite:${join(folder, "s.db")}` });
  await create(client, { name: "orders", allocation: Allocation.STRICT });
  await client.nextValue({ name: "orders" });
  rmSync(join(folder, "s.db.sequences"));
  for (const call of [
    () => client.nextValue({ name: "orders" }),
    () => client.reserveValues({ name: "orders", count: 5 }),
    () => client.getSequence({ name: "orders" }),
    () => client.listSequences({}),
  ]) {
    const error = ConnectError.from(await call().catch((cause: unknown) => cause));
    const [info] = error.findDetails(ErrorInfoSchema);
    expect(info?.reason).toMatch(/^STORE_(WENT_BACK|UNAVAILABLE)$/);
    expect(JSON.stringify([error.rawMessage, info?.metadata])).not.toContain(folder);
  }
  expect(log.filter((line) => line.includes("A take of values failed") && line.includes(folder))).not.toEqual([]);
});

test("a server hands out what it has in memory while the database is stopped, and goes on when it is opened", async () => {
  const folder = temporaryFolder();
  const store = `sqlite:${join(folder, "s.db")}`;
  const { client, url, log } = await start({ store });
  const stopped = async () => (await scrape(url)).get("snowlane_sequence_stopped");
  const events = async () => {
    const lines = await scrape(url);
    return ["stopped", "opened"].map((event) => lines.get(`snowlane_sequence_events_total{event="${event}"}`));
  };
  await create(client, { name: "orders", stepMin: 100n });
  expect((await client.nextValue({ name: "orders" })).value).toBe(1n);
  expect(await stopped()).toBe(0);
  const stop = ["sequences", "stop", "--reason", "a backup is put back", "--store", store];
  expect(await runInProcess(stop)).toMatchObject({ code: 0 });
  await vi.waitUntil(async () => (await stopped()) === 1, { timeout: 60_000 });
  const listed = await runInProcess(["sequences", "--server", url]);
  expect(listed.stdout).toMatch(/^NAME .*\norders .* stopped\nThe database is stopped: a backup is put back\./);
  const values: bigint[] = [];
  for (let value = 2n; value <= 100n; value += 1n) values.push((await client.nextValue({ name: "orders" })).value);
  expect(values).toEqual(Array.from({ length: 99 }, (_, index) => BigInt(index + 2)));
  expect((await refusalOf(client.nextValue({ name: "orders" })))[0]).toBe("STORE_WENT_BACK");
  expect([await stopped(), ...(await events())]).toEqual([1, 1, 0]);
  await raiseAndOpen(store, join(folder, "s.db.sequences"), "0");
  await vi.waitUntil(async () => (await stopped()) === 0, { timeout: 60_000 });
  expect(log.some((line) => line.includes("The database of sequences is open again"))).toBe(true);
  expect(await events()).toEqual([1, 1]);
  expect((await client.nextValue({ name: "orders" })).value).toBe(101n);
});

test("values go on without a gap on bytes, while one sequence drives another out of memory", async () => {
  const { client, url } = await start({ sequencesInMemory: "1" });
  const names = ["a", "b"];
  for (const name of names) await create(client, { name });
  const path = `${url}/snowlane.v1.SequenceService`;
  const headers = { "content-type": "application/json" };
  const next = async (name: string): Promise<bigint> => {
    const response = await fetch(`${path}/NextValue`, { method: "POST", headers, body: JSON.stringify({ name }) });
    return BigInt(((await response.json()) as { readonly value: string }).value);
  };
  for (let value = 1n; value <= 12n; value += 4n) {
    for (const name of names) {
      const values = [(await client.nextValue({ name })).value, await next(name), await next(name)];
      values.push((await client.reserveValues({ name, count: 1 })).runs[0]!.firstValue);
      expect(values).toEqual([value, value + 1n, value + 2n, value + 3n]);
    }
  }
});

test("a database that gives no values for longer than callers wait ends their calls with a time to retry", async () => {
  const folder = temporaryFolder();
  const store = `sqlite:${join(folder, "s.db")}`;
  const { client, url, log } = await start({ store, waitMax: "1s", sequenceStoreTimeout: "500ms" });
  await vi.waitUntil(() => create(client, { name: "orders", allocation: Allocation.STRICT }).catch(() => undefined), {
    timeout: 60_000,
  });
  const other = new DatabaseSync(join(folder, "s.db.sequences"), { timeout: 20_000 });
  other.exec("BEGIN IMMEDIATE");
  const error = ConnectError.from(await client.nextValue({ name: "orders" }).catch((thrown: unknown) => thrown));
  other.exec("ROLLBACK");
  other.close();
  expect(error.code).toBe(Code.Unavailable);
  expect(error.findDetails(ErrorInfoSchema)[0]?.reason).toBe("STORE_UNAVAILABLE");
  expect(error.findDetails(RetryInfoSchema)[0]?.retryDelay).toMatchObject({ seconds: expect.any(BigInt) });
  const next = () => client.nextValue({ name: "orders" }).catch(() => undefined);
  expect((await vi.waitUntil(next, { timeout: 60_000 }))?.value).toBeGreaterThan(0n);
  expect((await scrape(url)).get('snowlane_sequence_takes_total{outcome="failed"}')).toBeGreaterThan(0);
  expect(log.some((line) => line.includes("A take of values failed"))).toBe(true);
});

test("a server makes no file and no thread for sequences before the first call for one", async () => {
  let threads = 0;
  const count = (): void => void (threads += 1);
  // Of Node: it tells of each thread that this process starts.
  subscribe("worker_threads", count);
  onTestFinished(() => void unsubscribe("worker_threads", count));
  const store = `sqlite:${join(temporaryFolder(), "s.db")}`;
  const { client, url } = await start({ store });
  expect((await createClient(IdService, createGrpcTransport({ baseUrl: url })).nextId({})).id).toBeGreaterThan(0n);
  await scrape(url);
  const traces = () => ["", ".locks"].map((part) => existsSync(`${store.slice("sqlite:".length)}.sequences${part}`));
  expect([threads, ...traces()]).toEqual([1, false, false]);
  expect((await client.listSequences({})).sequences).toEqual([]);
  expect([threads, ...traces()]).toEqual([2, true, true]);
});

test("a database that was named is tried at the start: the log tells of it, and IDs are handed out without it", async () => {
  const { client, url, log } = await start({ sequenceStores: "postgres://nobody@127.0.0.1:1/none", waitMax: "1s" });
  const problem = () => log.find((line) => line.includes("The database of sequences cannot be used"));
  expect(await vi.waitUntil(problem, { timeout: 60_000 })).toContain('"level":"warn"');
  expect((await createClient(IdService, createGrpcTransport({ baseUrl: url })).nextId({})).id).toBeGreaterThan(0n);
  expect((await refusalOf(client.nextValue({ name: "orders" })))[0]).toBe("STORE_UNAVAILABLE");
  // The caller is not shown the database's own error, so the log has it: once a minute.
  const failedCalls = () =>
    log.filter((line) => line.includes("An operator's call to the database of sequences failed"));
  for (let call = 0; call < 2; call++)
    expect((await refusalOf(client.createSequence({ sequence: { name: "orders" } })))[0]).toBe("STORE_UNAVAILABLE");
  expect(failedCalls()).toEqual([expect.stringContaining("127.0.0.1:1")]);
});

test("a server without a database for sequences does not have the service", async () => {
  const { client } = await start({ sequenceStores: "off" });
  expect((await refusalOf(client.nextValue({ name: "a" })))[2]).toBe(Code.Unimplemented);
});

describe("bad input is refused with its field:", () => {
  test("every request at once", async () => {
    const { client } = await start();
    await create(client, { name: "a" });
    await create(client, { name: "b", stepMin: 7n });
    const make = (sequence: NonNullable<Parameters<Sequences["createSequence"]>[0]["sequence"]>) =>
      client.createSequence({ sequence });
    const update = (paths: string[], sequence: object) =>
      client.updateSequence({ sequence: { name: "a", ...sequence }, updateMask: { paths } });
    const batch = async (name: string, count: bigint) => {
      for await (const _ of client.batchNextValues({ name, count })) continue;
    };
    const invalid = (field: string) => ["INVALID_SEQUENCE", field, Code.InvalidArgument];
    const cases: readonly (readonly [Promise<unknown>, readonly unknown[]])[] = [
      [client.createSequence({}), invalid("sequence")],
      [make({ name: "" }), invalid("sequence.name")],
      [make({ name: "A" }), invalid("sequence.name")],
      [make({ name: "x".repeat(64) }), invalid("sequence.name")],
      [make({ name: "x\u0007" }), invalid("sequence.name")],
      [make({ name: "x", description: "\u001b[2J" }), invalid("sequence.description")],
      [make({ name: "x", description: "d".repeat(201) }), invalid("sequence.description")],
      [make({ name: "x", stepMin: -1n }), invalid("sequence.step_min")],
      [make({ name: "x", stepMax: 2n ** 30n + 1n }), invalid("sequence.step_max")],
      [make({ name: "x", startValue: -1n }), invalid("sequence.start_value")],
      [make({ name: "x", increment: 2n ** 32n }), invalid("sequence.increment")],
      [make({ name: "x", period: 9 as Period }), invalid("sequence.period")],
      [make({ name: "x", timeZone: "UTC" }), invalid("sequence.time_zone")],
      [make({ name: "x", textTemplate: "INV" }), invalid("sequence.text_template")],
      [make({ name: "x", textTemplate: "{value" }), invalid("sequence.text_template")],
      [make({ name: "x", period: Period.MONTH, textTemplate: "{yyyy}{value}" }), invalid("sequence.text_template")],
      [make({ name: "x", startValue: 5n, valueMax: 4n }), invalid("sequence.value_max")],
      [make({ name: "x", increment: -1n }), invalid("sequence.increment")],
      [make({ name: "x", stepMin: 5n, stepMax: 4n }), invalid("sequence.step_max")],
      [make({ name: "x", stepMin: 2n ** 62n }), invalid("sequence.step_min")],
      [make({ name: "x", allocation: Allocation.STRICT, stepMin: 5n }), invalid("sequence.step_min")],
      [make({ name: "x", allocation: 9 as Allocation }), invalid("sequence.allocation")],
      [make({ name: "x", period: Period.DAY, timeZone: "Mars" }), invalid("sequence.time_zone")],
      [make({ name: "x", textTemplate: "{yyyy}" }), invalid("sequence.text_template")],
      [make({ name: "x", etag: "1" }), invalid("sequence.etag")],
      [make({ name: "x", nextValue: 5n }), invalid("sequence.next_value")],
      [make({ name: "b" }), ["SEQUENCE_EXISTS", undefined, Code.AlreadyExists]],
      [update([], {}), invalid("update_mask")],
      [update(["name"], {}), invalid("update_mask")],
      [update(["start_value"], { startValue: 2n }), invalid("update_mask")],
      [update(["value_max"], { valueMax: 5n }), invalid("sequence.value_max")],
      [update(["next_value"], { nextValue: 0n }), invalid("sequence.next_value")],
      [client.updateSequence({ updateMask: { paths: ["disabled"] } }), invalid("sequence")],
      [client.getSequence({ name: "none" }), ["SEQUENCE_NOT_FOUND", undefined, Code.NotFound]],
      [client.nextValue({ name: "none" }), ["SEQUENCE_NOT_FOUND", undefined, Code.NotFound]],
      [client.nextValue({ name: "" }), ["SEQUENCE_NOT_FOUND", undefined, Code.NotFound]],
      [client.nextValue({ name: "x".repeat(2_000) }), ["SEQUENCE_NOT_FOUND", undefined, Code.NotFound]],
      [client.reserveValues({ name: "a", count: 0 }), ["COUNT_OUT_OF_RANGE", "count", Code.InvalidArgument]],
      [client.reserveValues({ name: "a", count: 2_000_000 }), ["COUNT_OUT_OF_RANGE", "count", Code.InvalidArgument]],
      [batch("a", 0n), ["COUNT_OUT_OF_RANGE", "count", Code.InvalidArgument]],
      [batch("a", 2n ** 62n), ["COUNT_OUT_OF_RANGE", "count", Code.InvalidArgument]],
      [batch("none", 5n), ["SEQUENCE_NOT_FOUND", undefined, Code.NotFound]],
      [client.listSequences({ pageToken: "after-3" }), ["MALFORMED_TEXT", "page_token", Code.InvalidArgument]],
    ];
    const answers = await Promise.all(cases.map(([call]) => refusalOf(call)));
    expect(answers).toEqual(cases.map(([, refusal]) => refusal));
    expect((await client.nextValue({ name: "a" })).value).toBe(1n);
  });
});
