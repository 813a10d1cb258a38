import { composeId, type Layout } from "../../src/snowflake/layout.ts";
import { type PastLane, PastNumbers, slotsOfTick } from "../../src/snowflake/past-numbers.ts";
import { vectorLayouts } from "./layout-vectors.ts";

/** How many ticks each claim has. */
const tickCount = 40;
/** Ticks from which claims begin: the first of the layout, and one above 2^32. */
const firstTicks = [0, 5_000_000_123];

/** Rows of claims of the past with their IDs, in every layout that can be issued. */
export function pastVectors(): { readonly vectors: readonly object[] } {
  const vectors = Array.from(vectorLayouts.values())
    .filter(({ sequence, timestamp }) => sequence.bits === 0 || sequence.shift < timestamp.shift)
    .flatMap((layout) =>
      firstTicks
        .filter((firstTick) => firstTick + tickCount <= layout.timestamp.max)
        .flatMap((firstTick) => lanesOf(layout).map((lanes) => pastVector(layout, firstTick, lanes))),
    );
  return { vectors };
}

/** One lane, and where the layout has as many, three of them. */
function lanesOf({ datacenter, worker }: Layout): readonly (readonly PastLane[])[] {
  const one = [{ datacenterId: datacenter.max, workerId: worker.max }];
  if (worker.max < 2) return [one];
  return [one, [0, 1, worker.max].map((workerId) => ({ datacenterId: datacenter.max >>> 1, workerId }))];
}

function pastVector(layout: Layout, firstTick: number, lanes: readonly PastLane[]): object {
  const endTick = firstTick + tickCount;
  const capacity = slotsOfTick(layout, lanes.length);
  // A tick of 2^32 numbers is never full.
  const many = Math.min(capacity, 20_000);
  const runs = [
    [firstTick, 1],
    [firstTick + 1, Math.max(1, many - 1)],
    [firstTick + 2, many],
    [firstTick + 4, many + 1],
    // A row that is older than the one before it.
    [firstTick + 3, 1],
    [firstTick + 9, 2 * many + 1],
    // The last tick, and beyond it.
    [endTick - 1, many + 1],
  ] as const;
  const numbers = new PastNumbers(layout, { firstTick, endTick, lanes });
  const rows = runs.map(([tick, count]) => {
    const ids = Array.from({ length: count }, () => numbers.next(tick));
    return { tick, count, firstId: textOf(ids[0]), lastId: textOf(ids.at(-1)) };
  });
  const laneBits = lanes.map((lane) => String(composeId(layout, { ticks: 0, ...lane, sequence: 0 })));
  return { layout: layout.name, firstTick, endTick, laneBits, rows };
}

function textOf(id: bigint | undefined): string | null {
  return id === undefined ? null : String(id);
}
