import { expect, test } from "vitest";
import { FakeIdClient } from "./fake-id-client.ts";
import { delay, fail } from "./fake-script.ts";

test("the script is followed, step by step", async () => {
  const ids = new FakeIdClient([
    7n,
    { firstId: 100n, count: 5, stride: 10n },
    fail("STORE_UNAVAILABLE", { retryAfterMs: 40 }),
    8n,
  ]);
  expect(await ids.nextId()).toBe(7n);
  expect(await ids.nextIds(2)).toEqual([100n, 110n]);
  expect(await ids.reserve(9)).toEqual([{ firstId: 120n, count: 3, stride: 10n }]);
  await expect(ids.nextId()).rejects.toMatchObject({
    reason: "STORE_UNAVAILABLE",
    code: "UNAVAILABLE",
    retryAfterMs: 40,
  });
  for await (const chunk of ids.stream(1)) expect(chunk).toEqual([8n]);
  await expect(ids.nextId()).rejects.toMatchObject({ reason: "SCRIPT_ENDED" });
  await expect(ids.nextIds(0)).rejects.toMatchObject({ reason: "COUNT_OUT_OF_RANGE" });
  ids.close();
  await expect(ids.nextId()).rejects.toMatchObject({ reason: "CLIENT_CLOSED" });
});

test("a pause passes on the clock", async () => {
  const ids = new FakeIdClient([delay(50), 1n]);
  const id = ids.nextId();
  await ids.clock.advance(49);
  await expect(Promise.race([id, Promise.resolve("waits")])).resolves.toBe("waits");
  await ids.clock.advance(1);
  expect(await id).toBe(1n);
});

test("a buffer over the script is a real one", async () => {
  const ids = new FakeIdClient([{ firstId: 1n, count: 100, stride: 1n }]);
  const buffer = ids.prefetch({ maxAgeMs: 100, countMin: 32 });
  expect(await buffer.nextId()).toBe(1n);
  await ids.clock.advance(100);
  expect(await buffer.nextId()).toBe(33n);
  expect(buffer.stats().dropped).toBe(31);
});

test("it works offline by its layout", async () => {
  const ids = new FakeIdClient([]);
  const parsed = await ids.parse("0x1565a11f6217a000");
  expect(parsed).toMatchObject({ id: 1541815603606036480n, workerId: 26, datacenterId: 11 });
  expect(await ids.parse(await ids.format(parsed.id, { form: "uuid" }))).toEqual(parsed);
  await expect(ids.parse("01a1fd8d-c40b-7098-80cf-cd06cf6470a4")).rejects.toMatchObject({ reason: "MALFORMED_TEXT" });
  await expect(ids.parse(2n ** 63n)).rejects.toMatchObject({ reason: "MALFORMED_ID", code: "INVALID_ARGUMENT" });
  const second = new Date("2022-06-28T16:07:40Z");
  expect(await ids.idRange(second, new Date(second.getTime() + 1_000))).toEqual({
    firstId: 1541815603164086272n,
    lastId: 1541815607358390271n,
  });
});

test("a sequence follows its script, and any other one is not there", async () => {
  const february = { value: 1n, text: "2026-02/1", periodKey: "2026-02" };
  const ids = new FakeIdClient([], {
    sequences: {
      orders: [5n, { firstValue: 10n, count: 4, increment: 10n }, fail("SEQUENCE_DISABLED"), delay(50), 7n],
      invoices: [{ value: 9n, text: "2026-01/9", periodKey: "2026-01" }, february, february, 3n],
    },
  });
  const orders = ids.sequence("orders");
  expect(await orders.nextValue()).toEqual({ value: 5n, text: "", periodKey: "" });
  expect((await orders.nextValues(2)).map(({ value }) => value)).toEqual([10n, 20n]);
  expect(await orders.reserve(9)).toEqual({ runs: [{ firstValue: 30n, count: 2, increment: 10n }], periodKey: "" });
  await expect(orders.nextValue()).rejects.toMatchObject({ reason: "SEQUENCE_DISABLED" });
  const late = orders.nextValue();
  await ids.clock.advance(50);
  expect((await late).value).toBe(7n);
  await expect(orders.nextValue()).rejects.toMatchObject({ reason: "SCRIPT_ENDED" });
  const invoices = ids.sequence("invoices");
  const chunks: (readonly string[])[] = [];
  for await (const values of invoices.stream(2)) chunks.push(values.map(({ text }) => text));
  expect(chunks).toEqual([["2026-01/9"], ["2026-02/1"]]);
  expect(await invoices.nextText()).toBe("2026-02/1");
  await expect(invoices.nextText()).rejects.toMatchObject({ reason: "INVALID_SEQUENCE", metadata: { value: "3" } });
  await expect(ids.sequence("none").nextValue()).rejects.toMatchObject({ reason: "SEQUENCE_NOT_FOUND" });
  ids.close();
  await expect(orders.nextValue()).rejects.toMatchObject({ reason: "CLIENT_CLOSED" });
});
