import { expect, test } from "vitest";
import { guessLayouts, plausibilityTest, plausibleLayouts } from "./layout-guess.ts";
import { composeId } from "./layout.ts";
import { layouts } from "./presets.ts";

test("the presets of an ID are those under which it was made before tomorrow", () => {
  const nowMs = Date.UTC(2026, 10, 21);
  const names = (id: bigint): readonly string[] => plausibleLayouts(id, nowMs).map(({ name }) => name);
  // A tweet, a Discord ID and one of Leaf's cannot be distinguished; Instagram's and Sonyflake's can.
  expect(names(1_541_815_603_606_036_480n)).toEqual(["discord", "twitter", "instagram", "baidu", "leaf"]);
  expect(names(2_384_288_897_814_875_714n)).toEqual(["instagram", "baidu"]);
  expect(names(0n)).toEqual([]);
  expect(names(2n ** 63n)).toEqual([]);
  expect(names(-1n)).toEqual([]);
  const tomorrow = composeId(layouts.twitter, {
    ticks: nowMs + 86_400_000 - layouts.twitter.epochMs,
    datacenterId: 0,
    workerId: 0,
    sequence: 0,
  });
  expect(names(tomorrow)).not.toContain("twitter");
  expect(names(tomorrow - 1n)).toContain("twitter");
});

test("presets under which the sequence number is high come last", () => {
  // The lowest 10 bits, which are Instagram's sequence, are 1, and Hazelcast's 6 above the lowest 16 are low too;
  // Twitter's 12 and Baidu's 13 are 3073.
  const id = composeId(layouts.discord, { ticks: 2 ** 38, datacenterId: 1, workerId: 2, sequence: 3073 });
  const found = plausibleLayouts(id, Date.UTC(2026, 10, 21));
  expect(found.map(({ name }) => name)).toEqual(["hazelcast", "instagram", "discord", "twitter", "baidu", "leaf"]);
});

test.each([
  ["leaf", Date.UTC(2017, 3, 1)],
  ["clickhouse", Date.UTC(2024, 5, 1)],
  ["mastodon", Date.UTC(2017, 9, 1)],
] as const)("no ID is %s's from before its scheme existed", (name, beginMs) => {
  const layout = layouts[name];
  const names = (ms: number): readonly string[] => {
    const id = composeId(layout, { ticks: ms - layout.epochMs, datacenterId: 0, workerId: 0, sequence: 0 });
    return plausibleLayouts(id, Date.UTC(2026, 10, 21)).map((each) => each.name);
  };
  expect(names(beginMs)).toContain(name);
  expect(names(beginMs - 1)).not.toContain(name);
});

const nowMs = Date.UTC(2026, 10, 21);
/** An ID of a layout that was made the given number of days ago. */
function idOf(name: "twitter" | "discord" | "mastodon", ageDays: number, sequence = 0): bigint {
  const layout = layouts[name];
  const ticks = nowMs - ageDays * 86_400_000 - layout.epochMs;
  return composeId(layout, { ticks, datacenterId: 0, workerId: name === "mastodon" ? 0 : 3, sequence });
}

test("the layout that the text names is the first, and so is that of the server", () => {
  const id = idOf("twitter", 4_000);
  expect(guessLayouts([id], { nowMs, maker: "twitter" })[0]).toMatchObject({ name: "twitter" });
  expect(guessLayouts([id], { nowMs, maker: "discord" })[0]).toMatchObject({ name: "discord" });
  const [own] = guessLayouts([id], { nowMs, own: "instagram" });
  expect(own).toMatchObject({ name: "instagram", reasons: ["own", "low-sequence"] });
});

test("of two layouts of one shape, the one under which the ID is from these weeks is likelier", () => {
  expect(guessLayouts([idOf("discord", 10)], { nowMs })[0]).toMatchObject({
    name: "discord",
    reasons: ["recent", "low-sequence", "known"],
  });
  expect(guessLayouts([idOf("twitter", 10)], { nowMs })[0]?.name).toBe("twitter");
});

test("several IDs count together: the layout under which all of them fit is the first", () => {
  const ids = [idOf("twitter", 5_500), idOf("twitter", 20), idOf("twitter", 10)];
  // Under Discord's epoch the last two would be from the years to come.
  expect(guessLayouts(ids, { nowMs })[0]?.name).toBe("twitter");
});

test("a number is plausible if one scheme can have made it between its beginning and tomorrow", () => {
  const isPlausible = plausibilityTest(nowMs);
  expect(isPlausible(idOf("twitter", 10))).toBe(true);
  expect(isPlausible(idOf("mastodon", 10))).toBe(true);
  expect(isPlausible(4_611_686_018_427_387_905n)).toBe(false);
  // Baidu's ticks of a second would make it one of 2020.
  expect(plausibilityTest(nowMs, "baidu")(4_611_686_018_427_387_905n)).toBe(true);
});
