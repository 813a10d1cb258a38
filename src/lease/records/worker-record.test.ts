import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { noneAdded } from "./added-fields.ts";
import { knownBytesMax } from "./record-text.ts";
import {
  createHolder,
  encodeWorkerRecord,
  parseWorkerKey,
  parseWorkerRecord,
  readableRecord,
  readWorkerSlot,
  type WorkerRecord,
  workerKey,
} from "./worker-record.ts";

const holder = createHolder({
  instance: "host:7609",
  host: "host",
  processId: 42,
  bootId: "6f1a6c1e-0000-4000-8000-000000000000",
  sinceMs: 1_700_000_000_000,
  version: "0.1.0",
});
const record: WorkerRecord = {
  generation: 7,
  token: "0123456789abcdef0123456789abcdef",
  writeId: "fedcba9876543210fedcba9876543210",
  markMs: 1_700_000_010_000,
  expiresMs: 0,
  holder,
  added: noneAdded,
};

describe("a worker record", () => {
  test("reads back as it was written", () => {
    expect(parseWorkerRecord("worker-5", encodeWorkerRecord(record))).toEqual(record);
    const released = { ...record, token: "" };
    expect(parseWorkerRecord("worker-5", encodeWorkerRecord(released))).toEqual(released);
  });

  test("never takes more than 560 bytes of ASCII, whatever the host is called", () => {
    const text = fc.string({ unit: "binary", minLength: 1, maxLength: 300 });
    const number = fc.nat({ max: Number.MAX_SAFE_INTEGER });
    fc.assert(
      fc.property(text, text, text, text, number, (instance, host, bootId, version, big) => {
        const wide = createHolder({
          instance,
          host,
          processId: 4_194_304,
          bootId,
          sinceMs: 253_402_300_799_999,
          version,
        });
        const generation = Math.max(big, 1);
        const full = {
          ...record,
          generation,
          markMs: 253_402_300_799_999,
          expiresMs: 253_402_300_799_999,
          holder: wide,
        };
        const encoded = encodeWorkerRecord(full);
        expect(encoded).toMatch(/^[ -~]*$/);
        expect(encoded.length).toBeLessThanOrEqual(knownBytesMax);
        expect(parseWorkerRecord("worker-5", encoded)).toEqual(full);
      }),
    );
  });

  test.each([
    ["no JSON", "hello"],
    ["another JSON", "[]"],
    ["a field less", JSON.stringify({ ...JSON.parse(encodeWorkerRecord(record)), hwmMs: undefined })],
    ["another version", encodeWorkerRecord(record).replace('"formatVersion":1', '"formatVersion":2')],
    ["a mark that is not a number", encodeWorkerRecord(record).replace("1700000010000", '"1700000010000"')],
    ["a mark that is not whole", encodeWorkerRecord(record).replace("1700000010000", "1700000010000.5")],
    ["a short token", encodeWorkerRecord({ ...record, token: "0123" })],
    ["an empty writeId", encodeWorkerRecord({ ...record, writeId: "" })],
    ["generation 0", encodeWorkerRecord({ ...record, generation: 0 })],
    ["too long", `${encodeWorkerRecord(record)}${" ".repeat(1_024)}`],
  ])("with %s is refused as foreign", (_, text) => {
    expect(() => parseWorkerRecord("worker-5", text)).toThrow(
      expect.objectContaining({ reason: "INVALID_CONFIG", metadata: expect.objectContaining({ record: "worker-5" }) }),
    );
  });
});

test("a worker key and its number are inverse, and other keys are not worker keys", () => {
  for (const index of [0, 1, 1_023, 4_294_967_295]) expect(parseWorkerKey(workerKey(index))).toBe(index);
  for (const key of ["layout", "worker-", "worker-01", "worker--1", "worker-1x", "worker-99999999999"]) {
    expect(parseWorkerKey(key)).toBeUndefined();
  }
});

test("a record that is damaged or foreign is unreadable, with the reason, and no error is thrown", () => {
  const entry = { key: "worker-5", text: encodeWorkerRecord(record) };
  expect(readWorkerSlot(entry)).toEqual({ kind: "record", record });
  expect(readableRecord(entry)).toEqual(record);
  const damaged = { ...entry, text: entry.text.slice(1) };
  expect(readWorkerSlot(damaged)).toMatchObject({ kind: "unreadable", error: { reason: "INVALID_CONFIG" } });
  expect(readableRecord(damaged)).toBeUndefined();
});
