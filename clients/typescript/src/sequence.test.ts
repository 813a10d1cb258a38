import { timestampMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createRouterTransport, type ServiceImpl } from "@connectrpc/connect";
import { expect, onTestFinished, test } from "vitest";
import { SequenceService } from "../../../src/gen/snowlane/v1/sequence_service_pb.ts";
import { faultError } from "../../../test/support/processes/scripted-id-server.ts";
import { IdClient } from "./id-client.ts";
import type { AttemptEvent } from "./observer.ts";
import type { Sequence } from "./sequence.ts";

type Handlers = Partial<ServiceImpl<typeof SequenceService>>;

/** A sequence of a client whose servers answer as a test says, and the attempts that it makes. */
function sequenceOf(...servers: readonly Handlers[]): { readonly orders: Sequence; readonly attempts: AttemptEvent[] } {
  const attempts: AttemptEvent[] = [];
  const endpoints = servers.map((_, index) => `http://127.0.0.1:${index + 1}`);
  const client = new IdClient(
    (url) => {
      const transport = createRouterTransport((router) => {
        router.service(SequenceService, servers[endpoints.indexOf(url)] ?? {});
      });
      return { transport, close: () => {} };
    },
    { endpoints, random: () => 0, observer: { onAttempt: (event) => attempts.push(event) } },
  );
  onTestFinished(() => client.close());
  return { orders: client.sequence("orders"), attempts };
}

const last = 2n ** 63n - 1n;

test("values up to 2^63 - 1 arrive exactly, with text and period, and each method sends the name", async () => {
  const names: string[] = [];
  const { orders, attempts } = sequenceOf({
    nextValue: ({ name }) => {
      names.push(name);
      return { value: last, text: "a", periodKey: "2026" };
    },
    reserveValues: ({ name, count }) => {
      names.push(`${name} ${count}`);
      return { runs: [{ firstValue: last - 4n, count: 3, increment: 2n }], periodKey: "2026" };
    },
    batchNextValues: async function* ({ name, count, chunkSize }) {
      names.push(`${name} ${count} ${chunkSize}`);
      yield { values: [2n ** 53n, 2n ** 53n + 1n], texts: ["x", "y"], periodKey: "2026" };
      yield { values: [last], texts: [], periodKey: "2027" };
    },
  });
  expect(await orders.nextValue()).toEqual({ value: last, text: "a", periodKey: "2026" });
  expect(await orders.nextText()).toBe("a");
  const run = { firstValue: last - 4n, count: 3, increment: 2n };
  expect(await orders.reserve(7)).toEqual({ runs: [run], periodKey: "2026" });
  expect(await orders.nextValues(3)).toEqual([
    { value: 2n ** 53n, text: "x", periodKey: "2026" },
    { value: 2n ** 53n + 1n, text: "y", periodKey: "2026" },
    { value: last, text: "", periodKey: "2027" },
  ]);
  expect(names).toEqual(["orders", "orders", "orders 7", "orders 3 0"]);
  expect(attempts.map(({ method }) => method)).toEqual(["NextValue", "NextValue", "ReserveValues", "BatchNextValues"]);
});

test("values of another database of sequences are refused by every method, and none of them is used", async () => {
  let database = 0xab;
  const { orders } = sequenceOf({
    nextValue: () => ({ value: 7n, database }),
    reserveValues: () => ({ runs: [{ firstValue: 1n, count: 1, increment: 1n }], database }),
    batchNextValues: async function* () {
      yield { values: [7n], database };
    },
  });
  const calls = [() => orders.nextValue(), () => orders.reserve(1), () => orders.nextValues(1)];
  for (const call of calls) await call();
  database = 0xcd;
  const refusal = {
    reason: "DEPLOYMENT_MISMATCH",
    message: expect.stringContaining("another database of sequences (000000cd) than the one in use (000000ab"),
    metadata: expect.objectContaining({ database: "000000cd", expected_database: "000000ab" }),
  };
  for (const call of calls) await expect(call()).rejects.toMatchObject(refusal);
  // An older server reports no number.
  for (database of [0, 0xab]) for (const call of calls) await call();
});

test("a value of another time's period is asked for by that time", async () => {
  const times: unknown[] = [];
  const { orders } = sequenceOf({
    nextValue: ({ forTime }) => {
      times.push(forTime && timestampMs(forTime));
      return { value: 1n, text: "a" };
    },
  });
  const forTime = new Date("2026-03-31T23:59:59.999Z");
  await orders.nextValue({ forTime });
  await orders.nextText({ forTime });
  await orders.nextValue();
  expect(times).toEqual([forTime.getTime(), forTime.getTime(), undefined]);
});

test("a server that is unavailable is left for another, and no other error is tried again", async () => {
  const unavailable = (): never => {
    throw faultError({ reason: "STORE_UNAVAILABLE", code: Code.Unavailable, retryAfterMs: 5_000, metadata: {} });
  };
  const absent = (): never => {
    throw faultError({ reason: "SEQUENCE_NOT_FOUND", code: Code.NotFound, metadata: { name: "orders" } });
  };
  const { orders, attempts } = sequenceOf({ nextValue: unavailable }, { nextValue: () => ({ value: 8n }) });
  expect((await orders.nextValue()).value).toBe(8n);
  expect(attempts.map(({ reason }) => reason)).toEqual(["STORE_UNAVAILABLE", undefined]);
  const second = sequenceOf({ nextValue: absent });
  await expect(second.orders.nextValue()).rejects.toMatchObject({
    reason: "SEQUENCE_NOT_FOUND",
    code: "NOT_FOUND",
    metadata: { name: "orders" },
  });
  expect(second.attempts.length).toBe(1);
});

test("a stream that breaks is taken up for the rest, unless it is ordered", async () => {
  const asked: bigint[] = [];
  const handlers: Handlers = {
    batchNextValues: async function* ({ count }) {
      asked.push(count);
      yield { values: [BigInt(asked.length)] };
      throw new ConnectError("gone", Code.Unavailable);
    },
  };
  const { orders } = sequenceOf(handlers, handlers);
  const values: bigint[] = [];
  for await (const chunk of orders.stream(3)) values.push(...chunk.map(({ value }) => value));
  expect([values, asked]).toEqual([
    [1n, 2n, 3n],
    [3n, 2n, 1n],
  ]);
  const ordered = orders.stream(3, { ordered: true });
  expect((await ordered.next()).value).toMatchObject([{ value: 4n }]);
  await expect(ordered.next()).rejects.toMatchObject({ code: "UNAVAILABLE" });
});

test("leaving a stream cancels it on the server, and a cancelled call is CANCELLED", async () => {
  const ended = Promise.withResolvers<boolean>();
  const { orders } = sequenceOf({
    batchNextValues: async function* (_, { signal }) {
      signal.addEventListener("abort", () => ended.resolve(true));
      for (let value = 1n; ; value++) yield { values: [value] };
    },
    nextValue: async (_, { signal }) => {
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("gone"))));
      return {};
    },
  });
  for await (const [first] of orders.stream(1_000)) {
    expect(first).toEqual({ value: 1n, text: "", periodKey: "" });
    break;
  }
  expect(await ended.promise).toBe(true);
  const caller = new AbortController();
  const call = orders.nextValue({ signal: caller.signal });
  caller.abort();
  await expect(call).rejects.toMatchObject({ reason: "CANCELLED" });
  await expect(orders.nextValue({ timeoutMs: 50 })).rejects.toMatchObject({ reason: "DEADLINE_EXCEEDED" });
});

test("an answer that cannot be is refused whole", async () => {
  const stream = (...chunks: { values: bigint[]; texts?: string[] }[]): Handlers => ({
    batchNextValues: async function* () {
      yield* chunks;
    },
  });
  const run = { firstValue: 5n, count: 2, increment: 1n };
  const refused: readonly (readonly [Handlers, (orders: Sequence) => Promise<unknown>])[] = [
    [{ nextValue: () => ({ value: 0n }) }, (orders) => orders.nextValue()],
    [{ nextValue: () => ({ value: -1n }) }, (orders) => orders.nextValue()],
    [{ reserveValues: () => ({ runs: [] }) }, (orders) => orders.reserve(5)],
    [{ reserveValues: () => ({ runs: [run] }) }, (orders) => orders.reserve(1)],
    [{ reserveValues: () => ({ runs: [run, run] }) }, (orders) => orders.reserve(5)],
    [{ reserveValues: () => ({ runs: [{ ...run, increment: 0n }] }) }, (orders) => orders.reserve(5)],
    [{ reserveValues: () => ({ runs: [{ ...run, firstValue: last }] }) }, (orders) => orders.reserve(5)],
    [stream({ values: [] }), (orders) => orders.nextValues(2)],
    [stream({ values: [1n] }), (orders) => orders.nextValues(2)],
    [stream({ values: [1n, 2n, 3n] }), (orders) => orders.nextValues(2)],
    [stream({ values: [1n, 0n] }), (orders) => orders.nextValues(2)],
    [stream({ values: [1n, 2n], texts: ["1"] }), (orders) => orders.nextValues(2)],
  ];
  for (const [index, [handlers, call]] of refused.entries()) {
    const { orders } = sequenceOf(handlers);
    await expect(call(orders), `case ${index}`).rejects.toMatchObject({ reason: "INVALID_RESPONSE", code: "INTERNAL" });
  }
});

test("a sequence without a template has no text, and a count out of range sends nothing", async () => {
  const { orders, attempts } = sequenceOf({ nextValue: () => ({ value: 4n }) });
  const untold = { reason: "INVALID_SEQUENCE", metadata: { name: "orders", value: "4", field: "text_template" } };
  await expect(orders.nextText()).rejects.toMatchObject(untold);
  attempts.length = 0;
  const outOfRange = { reason: "COUNT_OUT_OF_RANGE" };
  await expect(orders.nextValues(0)).rejects.toMatchObject(outOfRange);
  await expect(orders.nextValues(1_048_577)).rejects.toThrow("Use stream() for more.");
  await expect(orders.reserve(1.5)).rejects.toMatchObject(outOfRange);
  await expect(orders.stream(1e9 + 1).next()).rejects.toMatchObject(outOfRange);
  await expect(orders.stream(1, { chunkSize: 65_537 }).next()).rejects.toMatchObject(outOfRange);
  expect(attempts).toEqual([]);
});
