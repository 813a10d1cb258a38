import { toBinary, create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { BatchNextValuesResponseSchema, ListSequencesResponseSchema } from "../gen/snowlane/v1/sequence_service_pb.ts";
import { createValueWriter, textBytesMax } from "../sequence/value-template.ts";
import { completeDefinition } from "../sequence/sequence.ts";
import { sequenceToMessage } from "./message/sequence-message.ts";
import { sequencesOfMessage, valuesOfMessage } from "./sequence-service.ts";

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
