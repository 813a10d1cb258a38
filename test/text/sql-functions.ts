import { IdError } from "../../src/errors.ts";
import { idRange } from "../../src/snowflake/id-range.ts";
import { composeId, type Layout, msToTicksDown } from "../../src/snowflake/layout.ts";
import { nsPerMsBig } from "../../src/snowflake/nanoseconds.ts";
import { parseId } from "../../src/snowflake/parse.ts";
import { formatSpan } from "../../src/config/setting-kinds.ts";
import { createTextCodec } from "../../src/text/text-codec.ts";
import { layouts, presetNames } from "../../src/snowflake/presets.ts";
import { vectorLayouts } from "../../tools/vectors/layout-vectors.ts";
import { runInProcess } from "../cli/in-process.ts";
import { SeededRandom } from "../support/worlds/seeded-random.ts";
import { type Random, randomParts } from "./random-ids.ts";

/** A time that every database can write, first to last. */
const [firstMs, lastMs] = [Date.UTC(1905, 0, 1), Date.UTC(2200, 0, 1)];

/** The layouts whose functions are tried. */
export const sqlLayouts: readonly Layout[] = [...vectorLayouts.values()];

/** The output of `snowlane sql` for a layout. */
export async function sqlOf(dialect: string, layout: Layout): Promise<string> {
  const isPreset = presetNames.some((name) => layouts[name] === layout);
  const fields = layout.fields.map(({ kind, bits }) => `${kind}:${bits}`).join(",");
  const epoch = new Date(layout.epochMs).toISOString();
  const own = ["--layout-fields", fields, "--tick", formatSpan(layout.tickNs), "--epoch", epoch];
  const { code, stdout, stderr } = await runInProcess([
    "sql",
    "--dialect",
    dialect,
    ...(isPreset ? ["--layout", layout.name] : own),
  ]);
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

/** The values that the functions give for one ID, by name; a name is absent where the layout has no such field. */
export function valuesOfId(layout: Layout, id: bigint): Readonly<Record<string, string>> {
  const { createTimeNs, datacenterId, workerId, sequence } = parseId(layout, id);
  const unixUs = (createTimeNs - (((createTimeNs % 1_000n) + 1_000n) % 1_000n)) / 1_000n;
  const belowMs = ((unixUs % 1_000n) + 1_000n) % 1_000n;
  const time = new Date(Number((unixUs - belowMs) / 1_000n)).toISOString().replace("T", " ").replace("Z", "");
  const codec = createTextCodec({ layout, namespace: "default" });
  const fields = { datacenter_id: datacenterId, worker_id: workerId, sequence };
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return {
    is_id: "1",
    time: `${time}${String(belowMs).padStart(3, "0")}`,
    ...Object.fromEntries(given.map(([name, value]) => [name, String(value)])),
    base32: codec.writer({ form: "base32" })(id),
    base58: codec.writer({ form: "base58" })(id),
    base62: codec.writer({ form: "base62" })(id),
  };
}

/** IDs of a layout with times that every database can write, the same in each run. */
export function idsOf(layout: Layout): readonly bigint[] {
  const source = new SeededRandom(22);
  const random: Random = { seed: 22, below: (end) => Math.floor((source.below(2 ** 31) / 2 ** 31) * end) };
  const [firstTick, endTick] = [firstMs, lastMs].map((ms) => msToTicksDown(layout, ms));
  const [from, to] = [Math.max(0, firstTick! + 1), Math.min(layout.timestamp.max + 1, endTick!)];
  return Array.from({ length: 30 }, () => {
    const parts = randomParts(layout, random);
    const ticks = parts.ticks >= from && parts.ticks < to ? parts.ticks : from + random.below(to - from);
    return composeId(layout, { ...parts, ticks });
  });
}

/** FIELD F8: numbers that are not IDs of a layout: negative ones, and those above its bits that a column can hold. */
export function numbersThatAreNoIds({ bits }: Layout): readonly bigint[] {
  const above = bits < 63 ? [2n ** BigInt(bits), 2n ** 63n - 1n] : [];
  return [-1n, -1_323_802_375_361_658_781n, ...above];
}

/** Times, in Unix milliseconds, about the ends of the layout's life and within it. */
export function timesOf({ epochMs, endMs }: Layout): readonly number[] {
  const within = Array.from({ length: 10 }, (_, index) => epochMs + Math.floor(((endMs - epochMs) * index) / 9.7));
  const edges = [-1_000, -1, 0, 1, 999].flatMap((ms) => [epochMs + ms, endMs + ms]);
  return [...within, ...edges].filter((ms) => ms >= firstMs && ms < lastMs);
}

/** The ends of the intervals that begin and end at a time, as `idRange` has them; null where there is no such ID. */
export function endsAt(layout: Layout, ms: number): { readonly first: string | null; readonly last: string | null } {
  const [at, longBefore, longAfter] = [ms, -62_135_596_800_000, 253_402_300_799_999].map(
    (each) => BigInt(each) * nsPerMsBig,
  );
  return {
    first: textOrNull(() => idRange(layout, at!, longAfter!).firstId),
    last: textOrNull(() => idRange(layout, longBefore!, at!).lastId),
  };
}

/** `2026-11-21 08:00:00.123`, which every database reads. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString().replace("T", " ").replace("Z", "");
}

/** Null where no tick of the layout's life begins in the interval. */
function textOrNull(read: () => bigint): string | null {
  try {
    return String(read());
  } catch (error) {
    if (error instanceof IdError && error.reason === "INVALID_TIME_RANGE") return null;
    throw error;
  }
}
