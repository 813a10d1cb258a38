import { toBinary, create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { BatchNextValuesResponseSchema } from "../gen/snowlane/v1/sequence_service_pb.ts";
import { createValueWriter, textBytesMax } from "../sequence/value-template.ts";
import { valuesOfMessage } from "./sequence-service.ts";

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
