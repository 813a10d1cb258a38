import { describe, expect, test } from "vitest";
import { composeId, type IdParts, type Layout, msToTicksUp } from "../../src/snowflake/layout.ts";
import { createTextCodec } from "../../src/text/text-codec.ts";
import type { TextFormat } from "../../src/text/text-form.ts";
import { vectorLayouts } from "../../tools/vectors/layout-vectors.ts";
import { createRandom, randomId, type Random, randomParts } from "./random-ids.ts";

const layouts: readonly Layout[] = [...vectorLayouts.values()];
const namespace = "default";

/** Texts must be in the order of the IDs; JavaScript compares ASCII texts by their bytes. */
function holdOrder(layout: Layout, format: TextFormat, ids: readonly bigint[], seed: number): void {
  const write = createTextCodec({ layout, namespace }).writer(format);
  const texts = ids.map(write);
  for (let i = 1; i < texts.length; i++) {
    if (!(texts[i - 1]! < texts[i]!))
      throw new Error(
        `SEED=${seed} ${layout.name} ${format.form}: ${ids[i - 1]} ${ids[i]} ${texts[i - 1]} ${texts[i]}`,
      );
  }
}

function ascending(ids: readonly bigint[]): readonly bigint[] {
  return [...new Set(ids)].toSorted((a, b) => (a < b ? -1 : 1));
}

describe("forms of fixed width sort as the IDs do, whatever the layout", () => {
  const formats: readonly TextFormat[] = [
    { form: "hex" },
    { form: "base32" },
    { form: "base32", checkSymbol: true },
    { form: "base58" },
    { form: "base62" },
    { form: "typed", typePrefix: "order" },
  ];
  test.each(formats)("$form $checkSymbol", (format) => {
    const random = createRandom();
    for (const layout of layouts) {
      const ids = Array.from({ length: 2_000 }, () => randomId(layout, random));
      // Neighbours differ in the last character alone, and carries move through all of them.
      const neighbours = ids.slice(0, 500).flatMap((id) => (id > 0n ? [id - 1n, id] : [id]));
      holdOrder(layout, format, ascending([...ids, ...neighbours]), random.seed);
    }
  });
});

test("decimal sorts as the IDs do among texts of one length, and only there", () => {
  const random = createRandom();
  const ids = Array.from({ length: 10_000 }, () => 10n ** 18n + BigInt(random.below(2 ** 53)));
  holdOrder(layouts[0]!, { form: "decimal" }, ascending(ids), random.seed);
  const write = createTextCodec({ layout: layouts[0]!, namespace }).writer({ form: "decimal" });
  expect(write(9n) < write(10n)).toBe(false);
});

/**
 * The IDs of one worker in the order in which it makes them: within a tick, over ticks, over milliseconds, over
 * seconds.
 */
function idsOfOneWorker(layout: Layout, random: Random): readonly bigint[] {
  const { datacenterId, workerId } = randomParts(layout, random);
  const startMs = Math.max(layout.epochMs, 0) + random.below(10 * 365 * 86_400_000);
  let ticks = Math.min(Math.max(0, msToTicksUp(layout, startMs)), layout.timestamp.max - 3_000_000);
  const ids: bigint[] = [];
  for (let step = 0; step < 200; step++) {
    const sequences = new Set([0, 1, layout.sequence.max, random.below(layout.sequence.max + 1)]);
    for (const sequence of [...sequences].filter((each) => each <= layout.sequence.max).toSorted((a, b) => a - b)) {
      const parts: IdParts = { ticks, datacenterId, workerId, sequence };
      ids.push(composeId(layout, parts));
    }
    ticks += 1 + (step % 10 === 0 ? random.below(100_000) : 0);
  }
  return ids.filter((id, i) => i === 0 || id !== ids[i - 1]);
}

describe("serial numbers and UUIDs sort as the IDs of one worker", () => {
  test.each(layouts)("$name", (layout) => {
    const random = createRandom();
    for (let i = 0; i < 50; i++) {
      const ids = idsOfOneWorker(layout, random);
      holdOrder(layout, { form: "serial", serialPrefix: "PAY", utcOffsetMinutes: -90 }, ids, random.seed);
      holdOrder(layout, { form: "uuid" }, ids, random.seed);
    }
  });
});

describe("UUIDs sort as all IDs do where the timestamp is the highest field", () => {
  const timeFirst = layouts.filter(({ fields, epochMs }) => fields[0]?.kind === "timestamp" && epochMs >= 0);
  test.each(timeFirst)("$name", (layout) => {
    const random = createRandom();
    const ids = Array.from({ length: 5_000 }, () => randomId(layout, random));
    holdOrder(layout, { form: "uuid" }, ascending(ids), random.seed);
  });
});

describe("serial numbers sort as all IDs do where time, datacenter, worker and sequence follow each other", () => {
  const order = ["timestamp", "datacenter", "worker", "sequence"];
  const inOrder = layouts.filter(({ fields }) => {
    const places = fields.map((field) => order.indexOf(field.kind));
    return places.every((place, i) => i === 0 || place > places[i - 1]!);
  });
  test.each(inOrder)("$name", (layout) => {
    const random = createRandom();
    const ids = Array.from({ length: 5_000 }, () => randomId(layout, random));
    const format: TextFormat = { form: "serial" };
    holdOrder(layout, format, ascending(ids), random.seed);
  });
  test("there are such layouts, and others", () => {
    expect(inOrder.length).toBeGreaterThan(5);
    expect(layouts.length - inOrder.length).toBeGreaterThan(1);
  });
});
