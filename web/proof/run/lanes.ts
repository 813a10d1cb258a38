import { calmProcesses, lastingMs } from "../../../test/simulation/shown/dropped-fault.ts";
import type { TraceEvent } from "../../../test/simulation/trace-event.ts";
import type { Lane, Span } from "../outcome.ts";

type Grant = Lane["grants"][number];

/** The place of a process, from its name: `place.life`. */
export function slotOf(process: string): number {
  return Number.parseInt(process, 10);
}

/**
 * The lane of each process: which worker ID it held, when it ran without one, which is to wait for one, and when a
 * fault had stopped it.
 */
export function lanesOf(events: readonly TraceEvent[], endMs: number): readonly Lane[] {
  return Array.from({ length: calmProcesses }, (_, slot) => {
    const own = events.filter((event) => slotIn(event) === slot);
    const healedMs = events.find(({ kind }) => kind === "healed")?.atMs ?? endMs;
    return { ...holdingOf(own, endMs), stops: stopsOf(own, healedMs, endMs) };
  });
}

/** Which process an event is about; undefined where it is about the store. */
function slotIn(event: TraceEvent): number | undefined {
  if ("process" in event) return slotOf(event.process);
  return "slot" in event ? event.slot : undefined;
}

function holdingOf(own: readonly TraceEvent[], endMs: number): Pick<Lane, "grants" | "waits"> {
  const grants: Grant[] = [];
  const waits: Span[] = [];
  let held: Grant | undefined;
  let waitsSinceMs: number | undefined;
  const end = (atMs: number): void => {
    if (held !== undefined) grants.push({ ...held, toMs: atMs });
    if (waitsSinceMs !== undefined) waits.push({ fromMs: waitsSinceMs, toMs: atMs });
    held = undefined;
    waitsSinceMs = undefined;
  };
  for (const event of own) {
    const { atMs } = event;
    if (event.kind === "issued" && held !== undefined) held = { ...held, count: held.count + event.count };
    if (event.kind === "crash") end(atMs);
    if (event.kind === "start") waitsSinceMs = atMs;
    if (event.kind !== "worker") continue;
    const { event: happened } = event;
    if (happened.kind === "acquired") {
      end(atMs);
      held = { fromMs: atMs, toMs: endMs, worker: happened.workerId, count: 0 };
    } else if (happened.kind === "grant-ended") {
      end(atMs);
      waitsSinceMs = atMs;
    }
  }
  end(endMs);
  return { grants, waits };
}

function stopsOf(own: readonly TraceEvent[], healedMs: number, endMs: number): Lane["stops"] {
  const lasting = (fromMs: number): Span => ({ fromMs, toMs: Math.min(fromMs + lastingMs, healedMs) });
  return own.flatMap((event): Lane["stops"] => {
    if (event.kind === "crash") {
      const next = own.find(({ kind, atMs }) => kind === "start" && atMs >= event.atMs);
      return [{ what: "kill", fromMs: event.atMs, toMs: next?.atMs ?? endMs }];
    }
    if (event.kind !== "fault") return [];
    if (event.fault === "pause-seen") return [{ what: "pause", ...lasting(event.atMs) }];
    return event.fault === "network-cut" ? [{ what: "cut", ...lasting(event.atMs) }] : [];
  });
}
