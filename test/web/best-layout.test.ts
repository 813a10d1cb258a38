import { expect, test } from "vitest";
import { composeId, createLayout, type Layout, msToTicksDown } from "../../src/snowflake/layout.ts";
import { layouts } from "../../src/snowflake/presets.ts";
import type { Find } from "../../src/text/find/find.ts";
import { bestLayoutOf } from "../../web/src/lab/best-layout.ts";

/** By which layout each ID of a text is read, as long as the reader chooses none. */

const nowMs = Date.UTC(2026, 10, 27);
const dayMs = 86_400_000;

function idsOf(layout: Layout, count: number, startMs: number): readonly bigint[] {
  return Array.from({ length: count }, (_, index) =>
    composeId(layout, {
      ticks: msToTicksDown(layout, startMs + index * 60_000),
      datacenterId: 0,
      workerId: Math.min(layout.worker.max, 3),
      sequence: index % 3,
    }),
  );
}

const findOf = (id: bigint): Find => ({ start: 0, end: 0, kind: "decimal", strict: String(id), notes: [] });
const namesOf = (ids: readonly bigint[], ofServer: Layout | undefined) => {
  const bestOf = bestLayoutOf(ids.map(findOf), { ofServer, nowMs });
  return new Set(ids.map((id) => bestOf(id).layout?.name));
};

test("the IDs of a server are read by its layout, however many there are and however old", () => {
  for (const startMs of [nowMs - 1_600 * dayMs, nowMs - 30 * dayMs])
    for (const count of [1, 2, 500])
      expect([count, namesOf(idsOf(layouts.twitter, count, startMs), layouts.twitter)]).toEqual([
        count,
        new Set(["twitter"]),
      ]);
});

test("a layout of a server's own wins where it fits, and a preset where it does not", () => {
  const own = createLayout({ ...layouts.twitter, name: "custom", epochMs: Date.UTC(2024, 0, 1) });
  const [id = 0n] = idsOf(own, 1, nowMs - 30 * dayMs);
  const bestOf = bestLayoutOf([findOf(id)], { ofServer: own, nowMs });
  expect(bestOf(id)).toEqual({ layout: own, reasons: ["own"] });
  expect(bestOf(1_541_815_603_606_036_522n).layout?.name).not.toBe("custom");
});

test("twenty recent IDs of one maker are read by its layout together, without any word of it", () => {
  for (const name of ["discord", "instagram", "sonyflake"] as const)
    expect([name, namesOf(idsOf(layouts[name], 20, nowMs - 30 * dayMs), undefined)]).toEqual([name, new Set([name])]);
});

test("an ID whose maker the text names is read by it, among others that are not", () => {
  const ids = idsOf(layouts.twitter, 20, nowMs - 30 * dayMs);
  const bestOf = bestLayoutOf(ids.map(findOf), { ofServer: layouts.twitter, nowMs });
  const { layout, reasons } = bestOf(175_928_847_299_117_063n, "discord");
  expect([layout?.name, reasons[0]]).toEqual(["discord", "maker"]);
  expect(bestOf(ids[0]!).reasons).toEqual(["own", "together"]);
});

test("a number that no layout can have made has none", () => {
  expect(bestLayoutOf([], { ofServer: undefined, nowMs })(2n ** 63n - 1n)).toEqual({ layout: undefined, reasons: [] });
});
