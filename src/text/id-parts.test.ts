import { expect, test } from "vitest";
import { createLayout, decomposeId, type LayoutField } from "../snowflake/layout.ts";
import { createIdReader } from "./id-parts.ts";

const kinds = ["timestamp", "datacenter", "worker", "sequence"] as const;

test("equals decomposeId for fields of every width at every place", () => {
  const ids = [0n, 1n, 0x5555_5555_5555_5555n, 0x2aaa_aaaa_aaaa_aaaan, 2n ** 63n - 1n, 1_900_000_000_000_000_005n];
  for (let above = 1; above <= 31; above++) {
    for (let bits = 1; bits <= 32; bits++) {
      const widths = [63 - above - bits - 1, above, bits, 1];
      const order = kinds.map((kind, i): LayoutField => ({ kind, bits: widths[i]! }));
      for (const fields of [order, order.toReversed(), [order[1]!, order[0]!, order[3]!, order[2]!]]) {
        if (widths[0]! < 1 || above + bits > 32) continue;
        const layout = createLayout({ name: "custom", epochMs: 0, tickNs: 1_000, fields });
        const reader = createIdReader(layout);
        for (const id of ids) {
          const parts = decomposeId(layout, id);
          expect(reader.tryRead(id)).toEqual(parts.ticks <= layout.timestamp.max ? parts : undefined);
        }
      }
    }
  }
});

test("what has bits above the fields, or a time past the layout's life, is not an ID of the layout", () => {
  const layout = createLayout({ name: "custom", epochMs: 0, tickNs: 1_000, fields: [{ kind: "timestamp", bits: 62 }] });
  const { tryRead, read } = createIdReader(layout);
  expect(tryRead(2n ** 53n - 1n)?.ticks).toBe(2 ** 53 - 1);
  for (const id of [-1n, 2n ** 53n, 2n ** 62n - 1n, 2n ** 62n, 2n ** 63n, 2n ** 64n]) {
    expect(tryRead(id)).toBeUndefined();
    expect(() => read(id)).toThrow(expect.objectContaining({ reason: "MALFORMED_ID" }));
  }
});
