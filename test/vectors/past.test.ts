import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { vectorLayouts } from "../../tools/vectors/layout-vectors.ts";

interface PastVector {
  readonly layout: string;
  readonly firstTick: number;
  readonly endTick: number;
  readonly laneBits: readonly string[];
  readonly rows: readonly {
    readonly tick: number;
    readonly count: number;
    readonly firstId: string | null;
    readonly lastId: string | null;
  }[];
}

const { vectors } = JSON.parse(readFileSync(new URL("past.json", import.meta.url), "utf8")) as {
  readonly vectors: readonly PastVector[];
};

/** Numbers rows by the formula of docs/back-fill.md, in one arithmetic: it shares no code with the library. */
function* numberRows({ layout: name, firstTick, endTick, laneBits, rows }: PastVector) {
  const { timestamp, sequence } = vectorLayouts.get(name)!;
  const numbers = BigInt(sequence.max) + 1n;
  const capacity = BigInt(laneBits.length) * numbers;
  let slot = -1n;
  for (const { tick, count } of rows) {
    for (let row = 0; row < count; row += 1) {
      const own = BigInt(tick - firstTick) * capacity;
      slot = own > slot ? own : slot + 1n;
      const place = slot % capacity;
      const ticks = (BigInt(firstTick) + slot / capacity) << BigInt(timestamp.shift);
      const id = ticks | BigInt(laneBits[Number(place / numbers)]!) | ((place % numbers) << BigInt(sequence.shift));
      yield slot < BigInt(endTick - firstTick) * capacity ? String(id) : null;
    }
  }
}

test.each(vectors.map((vector) => [`${vector.layout} from ${vector.firstTick}, ${vector.laneBits.length} lanes`, vector] as const))(
  "rows of a claim get the IDs of the formula: %s",
  (_, vector) => {
    const ids = [...numberRows(vector)];
    let at = 0;
    const found = vector.rows.map(({ tick, count }) => {
      const run = { tick, count, firstId: ids[at], lastId: ids[at + count - 1] };
      at += count;
      return run;
    });
    expect(found).toEqual(vector.rows);
    // No ID comes twice, also of the rows between.
    const given = ids.filter((id) => id !== null);
    expect(new Set(given).size).toBe(given.length);
  },
);
