import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createLayout, type LayoutSpec } from "../../src/snowflake/layout.ts";
import { plausibleLayouts } from "../../src/snowflake/layout-guess.ts";
import { parseId } from "../../src/snowflake/parse.ts";
import { presetLayout } from "../../src/snowflake/presets.ts";

interface PublishedId {
  readonly id: string;
  readonly layout: string | LayoutSpec;
  readonly createTime?: string;
  readonly ticks?: number;
  readonly datacenterId?: number;
  readonly workerId?: number;
  readonly sequence?: number;
  readonly source: string;
}

const { vectors } = JSON.parse(readFileSync(new URL("published-ids.json", import.meta.url), "utf8")) as {
  readonly vectors: readonly PublishedId[];
};

test.each(vectors)("$id reads as it was published", ({ id, layout: named, createTime, source, ...parts }) => {
  const layout = typeof named === "string" ? presetLayout(named) : createLayout(named);
  const parsed = parseId(layout, BigInt(id));
  expect(parsed).toMatchObject({ ...parts, id: BigInt(id) });
  if (createTime !== undefined) {
    const digits = /\.(\d+)/.exec(createTime)?.[1]?.length ?? 0;
    const unitMs = 10 ** (3 - digits);
    expect(Math.floor(parsed.createTimeMs / unitMs) * unitMs).toBe(Date.parse(createTime));
  }
  expect(source).toMatch(/^https:|github\.com/);
});

const ofPresets = vectors.filter(({ layout }) => typeof layout === "string");

test.each(ofPresets)("$id is plausible under $layout", ({ id, layout }) => {
  const names: readonly string[] = plausibleLayouts(BigInt(id), Date.UTC(2026, 11, 1)).map(({ name }) => name);
  expect(names).toContain(layout);
});
