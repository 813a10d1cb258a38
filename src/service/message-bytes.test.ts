import { toBinary, create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import {
  GetStatusResponseSchema,
  ListWorkersResponseSchema,
  WorkerState,
} from "../gen/snowlane/v1/admin_service_pb.ts";
import { BatchNextIdsResponseSchema } from "../gen/snowlane/v1/id_service_pb.ts";
import { BatchNextValuesResponseSchema, ListSequencesResponseSchema } from "../gen/snowlane/v1/sequence_service_pb.ts";
import { createValueWriter, textBytesMax } from "../sequence/value-template.ts";
import { completeDefinition } from "../sequence/sequence.ts";
import { presetLayout, presetNames } from "../snowflake/presets.ts";
import { createTextCodec } from "../text/text-codec.ts";
import { idMax, textForms } from "../text/text-form.ts";
import { sequenceToMessage } from "./message/sequence-message.ts";
import { idsOfMessage, idTextBytesMax, sequencesOfMessage, valuesOfMessage } from "./message-bytes.ts";
import { samplesMax } from "./status-samples.ts";

const valueMax = 2n ** 63n - 1n;

test.each([
  ["", ""],
  [`${"A".repeat(60)}-{yyyy}-{value:019}`, "2026"],
  [`${"größe".repeat(13)}{yyyy}{MM}{dd}{value}`, "2026-11-22"],
])(
  "a message of values by the template %j has at most 1 MiB, and little less (5.9 MB were refused)",
  (template, key) => {
    const count = valuesOfMessage(template);
    const text =
      template === ""
        ? ""
        : createValueWriter(template, { period: key === "" ? "none" : "day", yearStart: "" })(valueMax, key);
    expect(Buffer.byteLength(text)).toBe(textBytesMax(template));
    const values = Array.from({ length: count }, () => valueMax);
    const texts = text === "" ? [] : values.map(() => text);
    const message = create(BatchNextValuesResponseSchema, { values, texts });
    const bytes = toBinary(BatchNextValuesResponseSchema, message).length;
    expect(bytes).toBeLessThanOrEqual(2 ** 20 + 64);
    expect(bytes).toBeGreaterThan(2 ** 19);
  },
);

test("a page of sequences has at most 1 MiB, whatever texts they have, and never none", () => {
  const definition = completeDefinition({
    name: "a".repeat(63),
    description: "漢".repeat(200),
    period: "day",
    timeZone: "America/Argentina/ComodRivadavia",
    textTemplate: `${"漢".repeat(70)}{yyyy}{MM}{dd}{value:019}`,
    startValue: valueMax - 1n,
    increment: 2n ** 31n,
    lateMaxMs: 400 * 86_400_000,
  });
  const times = { createdMs: 1.8e12 + 1, updatedMs: 1.8e12 + 1 };
  const noted = { epoch: 2e12, closedBefore: "2026-11-22", begunCount: 1, revision: 1 };
  const state = {
    stored: { definition, sequenceId: "s", ...times, ...noted },
    etag: "0123456789abcdef",
    periodKey: "2026-11-22",
    nextValue: valueMax,
    leftCount: 2n ** 63n - 1n,
    isLost: false,
  };
  const states = Array.from({ length: 1_001 }, () => state);
  const count = sequencesOfMessage(states);
  const message = create(ListSequencesResponseSchema, { sequences: states.slice(0, count).map(sequenceToMessage) });
  const bytes = toBinary(ListSequencesResponseSchema, message).length;
  expect(bytes).toBeLessThanOrEqual(2 ** 20);
  expect(bytes).toBeGreaterThan(2 ** 19);
  expect(sequencesOfMessage(states.slice(0, 3))).toBe(3);
});

test("a message of IDs has at most 1 MiB: no form writes a longer text than is reckoned with (3 MB of UUIDs)", () => {
  const long = { serial: { serialPrefix: "A".repeat(16) }, typed: { typePrefix: "a".repeat(16) } };
  for (const name of presetNames) {
    const codec = createTextCodec({ layout: presetLayout(name), namespace: "default" });
    for (const form of textForms) {
      const options = form === "serial" || form === "typed" ? long[form] : {};
      const lengthOf = (id: bigint): number => {
        try {
          return codec.writer({ form, ...options })(id).length;
        } catch {
          // No ID of this layout.
          return 0;
        }
      };
      const lengths = [1n, 2n ** 53n, 2n ** 61n, idMax].map(lengthOf);
      expect(Math.max(...lengths), `${name} ${form}`).toBeLessThanOrEqual(idTextBytesMax);
    }
  }
  for (const [content, text] of [
    ["ids", ""],
    ["ids and texts", "a".repeat(idTextBytesMax)],
  ] as const) {
    const ids = Array.from({ length: idsOfMessage(content) }, () => idMax);
    const texts = text === "" ? [] : ids.map(() => text);
    const message = create(BatchNextIdsResponseSchema, { ids, texts, deployment: 7 });
    expect(toBinary(BatchNextIdsResponseSchema, message).length).toBeLessThanOrEqual(2 ** 20 + 64);
  }
});

test("a page of worker IDs and the state of a server have at most 1 MiB, whatever they hold", () => {
  const uint64Max = 2n ** 64n - 1n;
  const timestamp = { seconds: 253_402_300_799n, nanos: 999_999_999 };
  const worker = {
    datacenterId: 2 ** 32 - 1,
    workerId: 2 ** 32 - 1,
    state: WorkerState.QUARANTINED,
    holder: {
      instance: "i".repeat(100),
      host: "h".repeat(64),
      processId: uint64Max,
      startTime: timestamp,
      version: "v".repeat(32),
    },
    generation: uint64Max,
    markTime: timestamp,
    windowLeft: timestamp,
    freeTime: timestamp,
  };
  const workers = Array.from({ length: 1_000 }, () => worker);
  const page = create(ListWorkersResponseSchema, { workers, quarantineReason: "r".repeat(200) });
  expect(toBinary(ListWorkersResponseSchema, page).length).toBeLessThanOrEqual(2 ** 20);
  const sample = {
    time: timestamp,
    idsCount: uint64Max,
    valuesCount: uint64Max,
    callCount: uint64Max,
    errorCount: uint64Max,
    errorCodes: Array.from({ length: 16 }, (_, index) => ({ code: index + 1, count: uint64Max })),
    p50: timestamp,
    p99: timestamp,
    lead: timestamp,
    windowLeft: timestamp,
    index: uint64Max,
  };
  const status = create(GetStatusResponseSchema, { samples: Array.from({ length: samplesMax }, () => sample) });
  expect(toBinary(GetStatusResponseSchema, status).length).toBeLessThanOrEqual(2 ** 20);
});
