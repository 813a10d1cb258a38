import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { vectorLayouts } from "../../tools/vectors/layout-vectors.ts";
import { blocksOf } from "../support/processes/page-blocks.ts";

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

/** A claim of the past: what ClaimPast answers, and where the layout has its fields. */
interface Claim {
  readonly firstTick: bigint;
  readonly endTick: bigint;
  readonly laneBits: readonly bigint[];
  /** How many numbers the sequence field has. */
  readonly numbers: bigint;
  readonly timestampShift: bigint;
  readonly sequenceShift: bigint;
}

/** The IDs of rows, whose ticks come sorted; undefined where the claim has no room left. */
function* pastIds(claim: Claim, ticks: Iterable<bigint>): Generator<bigint | undefined> {
  const capacity = BigInt(claim.laneBits.length) * claim.numbers;
  let slot = -1n;
  for (const rowTick of ticks) {
    const own = (rowTick - claim.firstTick) * capacity;
    slot = own > slot ? own : slot + 1n;
    const [tick, place] = [claim.firstTick + slot / capacity, slot % capacity];
    const lane = claim.laneBits[Number(place / claim.numbers)]!;
    const id = (tick << claim.timestampShift) | lane | (place % claim.numbers << claim.sequenceShift);
    yield tick < claim.endTick ? id : undefined;
  }
}

/** The IDs of a vector's rows, by code that shares nothing with the library. */
function idsOf({ layout: name, firstTick, endTick, laneBits, rows }: PastVector): readonly (string | null)[] {
  const { timestamp, sequence } = vectorLayouts.get(name)!;
  const claim = {
    firstTick: BigInt(firstTick),
    endTick: BigInt(endTick),
    laneBits: laneBits.map(BigInt),
    numbers: BigInt(sequence.max) + 1n,
    timestampShift: BigInt(timestamp.shift),
    sequenceShift: BigInt(sequence.shift),
  };
  const ticks = rows.flatMap(({ tick, count }) => Array.from({ length: count }, () => BigInt(tick)));
  return [...pastIds(claim, ticks)].map((id) => (id === undefined ? null : String(id)));
}

test.each(vectors.map((vector) => [`${vector.layout} from ${vector.firstTick}, ${vector.laneBits.length} lanes`, vector] as const))(
  "rows of a claim get the IDs of the formula: %s",
  (_, vector) => {
    const ids = idsOf(vector);
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

/** Where each language's tests run the formula over the vectors. */
const testsOf = {
  ts: "test/vectors/past.test.ts",
  python: "clients/python/tests/test_vectors.py",
  go: "clients/go/vectors_test.go",
  java: "clients/java/src/test/java/dev/snowlane/client/VectorsTest.java",
};

/** Lines without their indentation, which is another one within a class. */
const unindented = (text: string): string => text.replaceAll(/^[ \t]+/gm, "").trim();

test.each(Object.entries(testsOf))("docs/back-fill.md shows the code that these vectors hold to the formula: %s", (language, path) => {
  const [shown = "", ...others] = blocksOf("docs/back-fill.md", `${language} tested by test/vectors/past.test.ts`);
  expect(others).toEqual([]);
  expect(shown).not.toBe("");
  expect(unindented(readFileSync(path, "utf8"))).toContain(unindented(shown));
});
