import { type DroppedWhat, droppedKinds } from "../../../test/simulation/shown/dropped-fault.ts";
import type { EqualIds } from "../../../test/simulation/shown/equal-ids.ts";
import { simulationStartMs } from "../../../test/simulation/simulated-machine.ts";
import type { TraceEvent } from "../../../test/simulation/trace-event.ts";
import type { Happening } from "../outcome.ts";
import { slotOf } from "./lanes.ts";

/** A clock is moved by its fault, and by nothing else that a reader can drop in. */
const clockWhats: ReadonlySet<DroppedWhat> = new Set(["back", "ahead"]);

/** A fault of the simulation as a reader dropped it in. */
export function whatOf(fault: string): DroppedWhat | undefined {
  const [what] = Object.entries(droppedKinds).find(([, kind]) => kind === fault) ?? [];
  return what as DroppedWhat | undefined;
}

/** Chooses from the events of a run what a reader needs to follow it. */
export function tellStory(events: readonly TraceEvent[], equal: readonly EqualIds[]): readonly Happening[] {
  const below = grantOf(events, equal[0]);
  const aheadMs = new Map<number, number>();
  const lives = new Set<number>();
  const story = events.flatMap((event, place): readonly Happening[] => {
    const { atMs } = event;
    switch (event.kind) {
      case "fault": {
        const what = whatOf(event.fault);
        return what === undefined || clockWhats.has(what) ? [] : [{ kind: "fault", atMs, what, slot: event.slot }];
      }
      case "clock": {
        const byMs = event.aheadMs - (aheadMs.get(event.slot) ?? event.aheadMs);
        aheadMs.set(event.slot, event.aheadMs);
        return byMs === 0 || atMs === 0 ? [] : [{ kind: "clock", atMs, slot: event.slot, byMs }];
      }
      case "start":
        return lives.has(event.slot) ? [{ kind: "started", atMs, slot: event.slot }] : (lives.add(event.slot), []);
      case "lost":
        return lossOf(event);
      case "worker":
        return place === below?.place ? [below.happening] : workerHappening(event);
      case "healed":
        return [{ kind: "healed", atMs }];
      case "issued":
      case "applied":
      case "crash":
      case "fault-ended":
      case "violation":
        return [];
    }
  });
  return [...merged(story), ...equal.slice(0, 1).map((pair) => equalHappening(pair, equal))].toSorted(
    (one, other) => one.atMs - other.atMs,
  );
}

function lossOf({ atMs, keys }: Extract<TraceEvent, { kind: "lost" }>): readonly Happening[] {
  const workers = keys.flatMap((key) => /^worker-(\d+)$/.exec(key)?.[1] ?? []).map(Number);
  return workers.length === 0 ? [] : [{ kind: "marks-lost", atMs, workers: workers.toSorted((a, b) => a - b) }];
}

function workerHappening({ atMs, process, event }: Extract<TraceEvent, { kind: "worker" }>): readonly Happening[] {
  const slot = slotOf(process);
  if (event.kind === "acquired") return [{ kind: "granted", atMs, slot, worker: event.workerId }];
  if (event.kind === "waiting") return [{ kind: "waits", atMs, slot, cause: event.for }];
  if (event.kind === "quarantine-written")
    return [{ kind: "quarantine", atMs, slot, untilMs: event.untilMs - simulationStartMs }];
  return event.kind === "grant-ended" && event.end !== "released"
    ? [{ kind: "grant-ended", atMs, slot, end: event.end }]
    : [];
}

/** A process says again that it waits each time that it has looked: the first time is enough. */
function merged(story: readonly Happening[]): readonly Happening[] {
  const waiting = new Map<number, string>();
  return story.filter((happening) => {
    if (!("slot" in happening)) return true;
    const { slot } = happening;
    const isSame = happening.kind === "waits" && waiting.get(slot) === happening.cause;
    if (happening.kind === "waits") waiting.set(slot, happening.cause);
    else if (happening.kind.startsWith("granted") || happening.kind === "started") waiting.delete(slot);
    return !isSame;
  });
}

function equalHappening({ one, other }: EqualIds, all: readonly EqualIds[]): Happening {
  const count = all.reduce((sum, pair) => sum + pair.count, 0);
  return { kind: "equal", atMs: other.atMs, slot: slotOf(other.process), count, firstAtMs: one.atMs };
}

/**
 * The later one of the two grants under which the first ID came twice, and the mark that the store had confirmed before
 * it.
 */
function grantOf(
  events: readonly TraceEvent[],
  equal: EqualIds | undefined,
): { readonly place: number; readonly happening: Happening } | undefined {
  if (equal === undefined) return undefined;
  const worker = equal.one.workerIndex;
  const places = [equal.one, equal.other].map((issued) =>
    events.findLastIndex(
      (event) =>
        event.kind === "worker" &&
        event.event.kind === "acquired" &&
        event.process === issued.process &&
        event.event.workerId === worker &&
        event.atMs <= issued.atMs,
    ),
  );
  const place = Math.max(...places);
  const granted = events[place];
  if (granted?.kind !== "worker" || granted.event.kind !== "acquired") return undefined;
  const { fromMs, untilMs } = granted.event;
  const marks = events
    .slice(0, place)
    .flatMap((event) => (event.kind === "applied" && event.key === `worker-${worker}` ? [event.markMs ?? 0] : []));
  // The last one is that of the grant itself.
  const own = marks.lastIndexOf(untilMs);
  const before = (own < 0 ? marks : marks.slice(0, own)).at(-1);
  if (before === undefined || before <= fromMs) return undefined;
  const [fromRunMs, markMs] = [fromMs - simulationStartMs, before - simulationStartMs];
  const happening = {
    kind: "granted-below",
    slot: slotOf(granted.process),
    worker,
    fromMs: fromRunMs,
    markMs,
  } as const;
  return { place, happening: { atMs: granted.atMs, ...happening } };
}
