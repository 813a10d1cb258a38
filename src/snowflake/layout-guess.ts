import { composeId, decomposeId, type Layout, msToTicksUp, ticksToMsDown } from "./layout.ts";
import { layouts, type PresetName, presetNames } from "./presets.ts";

/** A preset under which an ID reads plausibly. */
export interface PlausibleLayout {
  readonly name: PresetName;
  /** When the ID would have been made: Unix milliseconds, rounded down. */
  readonly createTimeMs: number;
}

/** Why a preset is likely, the strongest reason first. */
export type GuessReason =
  /** The text names the maker: a mention, or a link to a site that uses this layout. */
  | "maker"
  /** The preset is the layout of this server, or the one that was chosen. */
  | "own"
  /** The ID would be from the last 90 days. */
  | "recent"
  /** The sequence number is low, as nearly all are. */
  | "low-sequence"
  /** This layout is widely used. */
  | "known";

/** A plausible preset with its score. */
export interface LayoutGuess extends PlausibleLayout {
  /** Higher is likelier. Only guesses for the same ID, or the same list, can be compared. */
  readonly score: number;
  readonly reasons: readonly GuessReason[];
}

/** Facts other than the IDs that help to decide between layouts. */
export interface GuessContext {
  /** Unix milliseconds. */
  readonly nowMs: number;
  /** The layout that the text around the ID names. */
  readonly maker?: PresetName | undefined;
  /** The layout of this server, or the chosen one. */
  readonly own?: PresetName | undefined;
}

const dayMs = 86_400_000;
/** The most by which an ID may be in the future: clocks and time zones differ by less. */
const futureMaxMs = dayMs;

/**
 * When a scheme began, Unix milliseconds, where that was after its epoch. Before it, the scheme issued no ID: Twitter's
 * IDs became Snowflakes on 2010-11-04, Leaf was published in April 2017, generateSnowflakeID came with ClickHouse 24.6,
 * Mastodon's IDs with its version 2.0, Yitter's generator in June 2020.
 */
const beginMs: Readonly<Partial<Record<PresetName, number>>> = {
  twitter: Date.UTC(2010, 10, 4),
  leaf: Date.UTC(2017, 3, 1),
  clickhouse: Date.UTC(2024, 5, 1),
  mastodon: Date.UTC(2017, 9, 1),
  yitter: Date.UTC(2020, 5, 1),
  hazelcast: Date.UTC(2018, 5, 1),
};

/** How many of the IDs that people paste are of a layout: an estimate, on the scale of the other points. */
const knownPoints: Readonly<Partial<Record<PresetName, number>>> = {
  discord: 3.5,
  twitter: 3,
  mastodon: 2,
  sonyflake: 1.5,
  tsid: 1.5,
  instagram: 1,
  cosid: 1,
  clickhouse: 1,
  hazelcast: 1,
  yitter: 1,
};

/** The presets, each with the earliest time of its IDs and the lowest number that has too many bits for it. */
const candidates = presetNames.map((name) => {
  const layout = layouts[name];
  return { name, layout, startMs: beginMs[name] ?? layout.epochMs, idEnd: 1n << BigInt(layout.bits) };
});

/**
 * Returns the presets under which an ID could have been made: not before the scheme existed, after its epoch, and not
 * after tomorrow. The most plausible first.
 *
 * This is only a guess: many IDs are plausible under several layouts.
 */
export function plausibleLayouts(id: bigint, nowMs: number): readonly PlausibleLayout[] {
  return guessLayouts([id], { nowMs }).map(({ name, createTimeMs }) => ({ name, createTimeMs }));
}

/**
 * Scores the presets under which at least one of the IDs could have been made, the likeliest first; among equals the
 * order is that of {@link presetNames}. `leaf` comes after `twitter`, from which it differs only in its names.
 *
 * The points: up to 3.5 for how common a layout is; 2.5 where the ID would be from the last 90 days, 0.5 for two years;
 * 1.5 for a sequence number in the lowest 64th of its range, 0.5 in the lowest quarter, otherwise -1.5; 6 for a maker
 * that the text names, and 4 for the layout of this server. For several IDs the points are added up, with 10 more for
 * each ID that fits.
 *
 * @param ids - One or more. `createTimeMs` is that of the first one that fits.
 */
export function guessLayouts(ids: readonly bigint[], context: GuessContext): readonly LayoutGuess[] {
  const guesses: LayoutGuess[] = [];
  for (const candidate of candidates) {
    const guess = guessOf(candidate, ids, context);
    if (guess !== undefined) guesses.push(guess);
  }
  return guesses.toSorted((one, other) => other.score - one.score);
}

function guessOf(
  candidate: (typeof candidates)[number],
  ids: readonly bigint[],
  { nowMs, maker, own }: GuessContext,
): LayoutGuess | undefined {
  const { name } = candidate;
  const known = knownPoints[name] ?? 0;
  let score = 0;
  let createTimeMs: number | undefined;
  let isRecent = false;
  let isLow = false;
  for (const id of ids) {
    const read = readUnder(candidate, id, nowMs);
    if (read === undefined) continue;
    createTimeMs ??= read.createTimeMs;
    const recent = recentPoints(nowMs - read.createTimeMs);
    const low = sequencePoints(candidate, read.sequence);
    isRecent ||= recent === recentPointsMax;
    isLow ||= low === lowPointsMax;
    score += recent + low + known + (ids.length > 1 ? 10 : 0);
  }
  if (createTimeMs === undefined) return undefined;
  const reasons: GuessReason[] = [];
  if (maker === name) {
    score += 6;
    reasons.push("maker");
  }
  if (own === name) {
    score += 4;
    reasons.push("own");
  }
  if (isRecent) reasons.push("recent");
  if (isLow) reasons.push("low-sequence");
  if (known >= 2) reasons.push("known");
  return { name, createTimeMs, score, reasons };
}

/**
 * Whether an ID can have been made under one layout: after the scheme began, and not after tomorrow.
 *
 * @param layout - A preset, or any other layout, whose scheme counts as begun at its epoch.
 */
export function isPlausibleUnder(layout: Layout, id: bigint, nowMs: number): boolean {
  const preset = candidates.find((candidate) => candidate.layout === layout);
  const idEnd = 1n << BigInt(layout.bits);
  return readUnder(preset ?? { layout, startMs: layout.epochMs, idEnd }, id, nowMs) !== undefined;
}

/** A layout with its earliest time and the lowest number that has too many bits for it. */
type Candidate = Omit<(typeof candidates)[number], "name">;

/** An ID's time and sequence under a layout; undefined if the ID cannot have been made under the layout. */
function readUnder(
  { layout, startMs, idEnd }: Candidate,
  id: bigint,
  nowMs: number,
): { readonly createTimeMs: number; readonly sequence: number } | undefined {
  if (id < 0n || id >= idEnd) return undefined;
  const { ticks, sequence } = decomposeId(layout, id);
  const createTimeMs = ticksToMsDown(layout, ticks);
  const isInLife = ticks > 0 && ticks <= layout.timestamp.max;
  return isInLife && createTimeMs >= startMs && createTimeMs < nowMs + futureMaxMs
    ? { createTimeMs, sequence }
    : undefined;
}

const recentPointsMax = 2.5;
const lowPointsMax = 1.5;

function recentPoints(ageMs: number): number {
  if (ageMs >= 730 * dayMs) return 0;
  return ageMs >= 90 * dayMs ? 0.5 : recentPointsMax;
}

/** Mastodon's sequence is partly a hash, so it gets no points. */
function sequencePoints({ name, layout }: (typeof candidates)[number], sequence: number): number {
  if (name === "mastodon") return 0;
  const range = layout.sequence.max + 1;
  if (sequence * 64 < range) return lowPointsMax;
  return sequence * 4 < range ? 0.5 : -1.5;
}

/** From the lowest ID of a scheme that can exist, inclusive, to the first one of the day after tomorrow, exclusive. */
interface IdSpan {
  readonly first: bigint;
  readonly end: bigint;
}

/**
 * Makes a test of whether a number can be an ID of any preset: made after its scheme began and not after tomorrow. It
 * costs a few comparisons, whereas {@link guessLayouts} parses the number.
 *
 * Baidu's layout is left out: its ticks of a second fill all 63 bits within eight years, so that every number would
 * pass.
 *
 * @param own - The name of the server's or the chosen layout: Baidu's is tested only if it is that one.
 */
export function plausibilityTest(nowMs: number, own?: string): (id: bigint) => boolean {
  const spans: readonly IdSpan[] = candidates
    .filter(({ name }) => name !== "leaf" && (name !== "baidu" || own === name))
    .map(({ layout, startMs, idEnd }) => {
      const at = (unixMs: number): bigint => {
        const ticks = Math.max(1, msToTicksUp(layout, unixMs));
        if (ticks > layout.timestamp.max) return idEnd;
        return composeId(layout, { ticks, datacenterId: 0, workerId: 0, sequence: 0 });
      };
      return { first: at(startMs), end: at(nowMs + futureMaxMs) };
    });
  return (id) => spans.some(({ first, end }) => id >= first && id < end);
}
