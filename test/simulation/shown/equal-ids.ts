import type { TraceEvent } from "../trace-event.ts";

type IssuedEvent = Extract<TraceEvent, { kind: "issued" }>;

/** Two runs of one worker ID that have IDs in common: found from outside, by the IDs alone. */
export interface EqualIds {
  readonly one: IssuedEvent;
  /** The later one. */
  readonly other: IssuedEvent;
  readonly firstId: bigint;
  readonly count: number;
}

/** Finds all IDs that were issued twice. Each run is compared with the one before it that reaches furthest. */
export function findEqualIds(events: readonly TraceEvent[]): readonly EqualIds[] {
  const issued = events.filter((event) => event.kind === "issued");
  const inOrder = issued.toSorted((one, other) =>
    one.firstId < other.firstId ? -1 : one.firstId > other.firstId ? 1 : 0,
  );
  const found: EqualIds[] = [];
  let furthest: IssuedEvent | undefined;
  for (const event of inOrder) {
    const end = furthest === undefined ? 0n : endOf(furthest);
    if (furthest !== undefined && event.firstId < end) {
      const [one, other] = [furthest, event].toSorted((a, b) => a.atMs - b.atMs) as [IssuedEvent, IssuedEvent];
      const commonEnd = end < endOf(event) ? end : endOf(event);
      found.push({ one, other, firstId: event.firstId, count: Number((commonEnd - event.firstId) / event.stride) });
    }
    if (furthest === undefined || endOf(event) > end) furthest = event;
  }
  return found.toSorted((a, b) => a.other.atMs - b.other.atMs);
}

/** The first ID behind a run. All IDs of a layout without fields below the sequence follow one another. */
function endOf({ firstId, count, stride }: IssuedEvent): bigint {
  return firstId + BigInt(count) * stride;
}

/** The longest time in which no process issued an ID, from the first ID until `untilMs`. */
export function longestSilence(
  events: readonly TraceEvent[],
  untilMs: number,
): { readonly fromMs: number; readonly lengthMs: number } {
  const times = events.flatMap(({ kind, atMs }) => (kind === "issued" && atMs < untilMs ? [atMs] : []));
  let longest = { fromMs: 0, lengthMs: 0 };
  for (const [index, fromMs] of times.entries()) {
    const lengthMs = (times[index + 1] ?? untilMs) - fromMs;
    if (lengthMs > longest.lengthMs) longest = { fromMs, lengthMs };
  }
  return longest;
}
