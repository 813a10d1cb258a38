import { composeId, createLayout } from "../../../src/snowflake/layout.ts";

/** Two IDs fit a tick of this layout, so that short histories fill it. */
export const historyLayout = createLayout({
  name: "custom",
  epochMs: 1_600_000_000_000,
  tickNs: 1_000_000,
  fields: [
    { kind: "timestamp", bits: 41 },
    { kind: "worker", bits: 3 },
    { kind: "sequence", bits: 1 },
  ],
});

/** A rule of the programs of Learn that can be left out, to see that it is needed. */
export type SampleRule =
  | "the first ID is of the tick after the start"
  | "a full tick is waited for"
  | "a late clock is refused";

/** All histories of 1 to `length` steps of these kinds. */
export function allHistories(steps: string, length: number): readonly string[] {
  let longest = [""];
  const all: string[] = [];
  for (let count = 0; count < length; count++) {
    longest = longest.flatMap((history) => Array.from(steps, (step) => history + step));
    all.push(...longest);
  }
  return all;
}

/**
 * The IDs of a history by the rules of the programs. A step is m, make an ID; t, the clock goes on by a tick; b, it is
 * set back by two; r, restart. The clock goes on by itself only while a call waits.
 *
 * @returns For each step an ID as text, `behind` where none was made, or `-` where none was wanted.
 */
export function idsOf(history: string, without?: SampleRule): readonly string[] {
  let nowMs = 1_700_000_000_000;
  let isWaiting = false;
  const look = (): number => {
    if (isWaiting) nowMs++;
    isWaiting = true;
    return nowMs - historyLayout.epochMs;
  };
  const startsAt = (): readonly [last: number, sequence: number] =>
    without === "the first ID is of the tick after the start" ? [-1, 0] : [look(), historyLayout.sequence.max];
  let [last, sequence] = startsAt();
  const make = (): string => {
    for (let now = look(); ; now = look()) {
      if (now < last && without !== "a late clock is refused") return "behind";
      const isFull = now === last && sequence === historyLayout.sequence.max;
      if (isFull && without !== "a full tick is waited for") continue;
      if (isFull) [last, sequence] = [last + 1, 0];
      else [last, sequence] = [now, now === last ? sequence + 1 : 0];
      return String(composeId(historyLayout, { ticks: last, datacenterId: 0, workerId: 1, sequence }));
    }
  };
  return Array.from(history, (step) => {
    isWaiting = false;
    if (step === "m") return make();
    if (step === "t") nowMs += 1;
    if (step === "b") nowMs -= 2;
    if (step === "r") [last, sequence] = startsAt();
    return "-";
  });
}
