import { expect, test } from "vitest";
import { encodeIncarnationRecord, parseIncarnationRecord } from "./incarnation-record.ts";
import { encodeLayoutRecord, type LayoutRecord } from "./layout-record.ts";
import { parseLayoutRecord, parseLayoutSlot } from "./layout-slot.ts";
import { encodeMoveRecord, type MoveRecord } from "./move-record.ts";
import { encodeQuarantineRecord, parseQuarantineRecord } from "./quarantine-record.ts";
import { version } from "../../version.ts";
import { noneAdded } from "./added-fields.ts";
import { encodeRecord } from "./record-text.ts";
import { createHolder, encodeWorkerRecord, parseWorkerRecord } from "./worker-record.ts";

const random = "0123456789abcdef0123456789abcdef";
const layout: LayoutRecord = {
  deploymentId: random,
  namespace: "default",
  epochMs: 1_288_834_974_657,
  tickNs: 1_000_000,
  fields: [
    { kind: "timestamp", bits: 41 },
    { kind: "sequence", bits: 12 },
  ],
  datacenterIds: [1, 3],
  workerIds: { first: 512, last: 1_023 },
  windowMaxMs: 10_000,
  leadMaxMs: 2_000,
  added: noneAdded,
};
const layoutFields =
  `"deploymentId":"${random}","namespace":"default","epochMs":1288834974657,"tickNs":1000000,` +
  `"fields":[{"kind":"timestamp","bits":41},{"kind":"sequence","bits":12}],"datacenterIds":[1,3],` +
  `"workerIds":{"first":512,"last":1023},` +
  `"windowMaxMs":10000,"leadMaxMs":2000`;
const move: MoveRecord = {
  moveId: random,
  phase: "leaving",
  place: "etcd://b",
  sinceMs: 1,
  quarantineUntilMs: null,
  layout,
  added: noneAdded,
};
const quarantine = { sinceMs: 1, untilMs: 2, reason: "restored from a backup", added: noneAdded };
const incarnation = { identity: "abc", startedMs: null, t0Ms: 5, added: noneAdded };
const worker = {
  generation: 7,
  token: random,
  writeId: random,
  markMs: 1_700_000_010_000,
  expiresMs: 0,
  holder: createHolder({ instance: "a:1", host: "a", processId: 42, bootId: "", sinceMs: 3, version: "0.1.0" }),
  added: noneAdded,
};

test("a record of a format above the first says which version writes it, for those that cannot read it", () => {
  const { formatVersion, program } = JSON.parse(encodeRecord(incarnation)) as Record<string, unknown>;
  expect(formatVersion === 1 || program === version).toBe(true);
});

/** A text that another process wrote is read and compared as it is: not one byte may change. */
test.each([
  [
    "worker",
    encodeWorkerRecord(worker),
    `{"formatVersion":1,"generation":7,"token":"${random}","writeId":"${random}","hwmMs":1700000010000,"expiresMs":0,` +
      `"holder":{"instance":"a:1","host":"a","processId":42,"bootId":"","sinceMs":3,"version":"0.1.0"}}`,
  ],
  ["layout", encodeLayoutRecord(layout), `{"formatVersion":1,${layoutFields}}`],
  [
    "move",
    encodeMoveRecord(move),
    `{"formatVersion":1,"moveId":"${random}","phase":"leaving","place":"etcd://b","sinceMs":1,` +
      `"quarantineUntilMs":null,"layout":{${layoutFields}}}`,
  ],
  [
    "quarantine",
    encodeQuarantineRecord(quarantine),
    `{"formatVersion":1,"sinceMs":1,"untilMs":2,"reason":"restored from a backup"}`,
  ],
  [
    "incarnation",
    encodeIncarnationRecord(incarnation),
    `{"formatVersion":1,"identity":"abc","startedMs":null,"t0Ms":5}`,
  ],
])("the text of a %s record is what it always was", (_, text, expected) => {
  expect(text).toBe(expected);
});

test("every record reads back as it was written", () => {
  expect(parseWorkerRecord("worker-5", encodeWorkerRecord(worker))).toEqual(worker);
  expect(parseLayoutRecord(encodeLayoutRecord(layout))).toEqual(layout);
  const unbound: LayoutRecord = { ...layout, datacenterIds: "all", workerIds: "all" };
  expect(parseLayoutRecord(encodeLayoutRecord(unbound))).toEqual(unbound);
  expect(parseLayoutSlot(encodeMoveRecord(move))).toEqual({ kind: "move", move });
  expect(parseQuarantineRecord(encodeQuarantineRecord(quarantine))).toEqual(quarantine);
  expect(parseIncarnationRecord(encodeIncarnationRecord(incarnation))).toEqual(incarnation);
});

test("a layout record, a quarantine and an incarnation refuse what is foreign", () => {
  for (const parse of [parseLayoutRecord, parseQuarantineRecord, parseIncarnationRecord]) {
    expect(() => parse(encodeWorkerRecord(worker))).toThrow(expect.objectContaining({ reason: "INVALID_CONFIG" }));
  }
});
