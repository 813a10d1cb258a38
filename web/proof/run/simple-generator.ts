import { calmMs, calmProcesses } from "../../../test/simulation/shown/dropped-fault.ts";
import type { TraceEvent } from "../../../test/simulation/trace-event.ts";
import type { Lane, SimpleOutcome } from "../outcome.ts";

/** How many IDs each process draws in a millisecond. */
const drawsPerMs = 5;
const sequenceMax = 4_095;

/**
 * The program of Learn in place of each process, under the clock steps, kills and pauses of a run. Its worker ID is
 * its place. It begins in the millisecond after its start, waits for the next one when one is full, and refuses while
 * its clock is behind. It keeps nothing, so after a kill it begins with its clock alone.
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
    // Undefined while it does not run.
    let lastMs: number | undefined;
    let sequence = 0;
    let place = 0;
    let aheadMs = 0;
    for (let atMs = 0; atMs < calmMs; atMs++) {
      for (; place < clocks.length && clocks[place]!.atMs <= atMs; place++)
        aheadMs = Math.round(clocks[place]!.aheadMs);
      const stop = lanes[slot]!.stops.find(({ what, fromMs, toMs }) => what !== "cut" && fromMs <= atMs && atMs < toMs);
      if (stop?.what === "kill") lastMs = undefined;
      if (stop !== undefined) continue;
      const nowMs = atMs + aheadMs;
      if (lastMs === undefined) [lastMs, sequence] = [nowMs, sequenceMax];
      for (let draw = 0; draw < drawsPerMs; draw++) {
        const isFull = nowMs === lastMs && sequence === sequenceMax;
        if (nowMs < lastMs || isFull) break;
        [lastMs, sequence] = [nowMs, nowMs === lastMs ? sequence + 1 : 0];
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
