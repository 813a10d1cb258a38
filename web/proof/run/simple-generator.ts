import { calmMs, calmProcesses } from "../../../test/simulation/shown/dropped-fault.ts";
import type { TraceEvent } from "../../../test/simulation/trace-event.ts";
import type { Lane, SimpleOutcome } from "../outcome.ts";

/** How many IDs each process draws in a millisecond. */
const drawsPerMs = 5;
const sequenceMax = 4_095;

/**
 * A generator such as most programs have, in the place of each process, under the clock steps, kills and pauses of a
 * run: its worker ID is its place, it goes on from its last time where the clock was set back, and after a kill it
 * begins with its clock alone. The programs of Learn do the same.
 */
export function runSimpleGenerators(events: readonly TraceEvent[], lanes: readonly Lane[]): SimpleOutcome {
  let issued = 0;
  let equalCount = 0;
  let firstEqualMs: number | undefined;
  for (let slot = 0; slot < calmProcesses; slot++) {
    const clocks = events.filter((event) => event.kind === "clock" && event.slot === slot) as readonly {
      atMs: number;
      aheadMs: number;
    }[];
    // How many sequence numbers of each millisecond are used.
    const used = new Map<number, number>();
    let lastMs = Number.NEGATIVE_INFINITY;
    let sequence = 0;
    let place = 0;
    let aheadMs = 0;
    for (let atMs = 0; atMs < calmMs; atMs++) {
      for (; place < clocks.length && clocks[place]!.atMs <= atMs; place++)
        aheadMs = Math.round(clocks[place]!.aheadMs);
      const stop = lanes[slot]!.stops.find(({ what, fromMs, toMs }) => what !== "cut" && fromMs <= atMs && atMs < toMs);
      if (stop?.what === "kill") lastMs = Number.NEGATIVE_INFINITY;
      if (stop !== undefined) continue;
      for (let draw = 0; draw < drawsPerMs; draw++) {
        if (atMs + aheadMs > lastMs) [lastMs, sequence] = [atMs + aheadMs, 0];
        else if (sequence < sequenceMax) sequence++;
        else [lastMs, sequence] = [lastMs + 1, 0];
        issued++;
        const count = used.get(lastMs) ?? 0;
        if (sequence >= count) used.set(lastMs, sequence + 1);
        else {
          equalCount++;
          firstEqualMs = Math.min(firstEqualMs ?? atMs, atMs);
        }
      }
    }
  }
  return { issued, equalCount, firstEqualMs };
}
