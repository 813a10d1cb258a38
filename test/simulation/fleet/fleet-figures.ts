import type { Fleet, FleetMember } from "./fleet.ts";
import type { ServerCalls, ServerState } from "./modelled-server.ts";

/** What came of members that started together. Times are milliseconds since the start. */
export interface StartFigures {
  /** Members with a worker ID, and those whose start was refused. */
  readonly granted: number;
  readonly refused: number;
  /** When half of them, 99 of 100, and all had a worker ID; undefined: never. */
  readonly halfMs: number | undefined;
  readonly mostMs: number | undefined;
  readonly lastMs: number | undefined;
  /** What all of them asked the store for meanwhile. */
  readonly calls: ServerCalls;
}

/** How long to look for the end of a start. */
const startMaxMs = 180_000;

/** Starts members and waits until each has a worker ID, or is refused. */
export async function startTogether(fleet: Fleet, ...how: Parameters<Fleet["start"]>): Promise<StartFigures> {
  const before = { ...fleet.server.calls };
  const startedMs = fleet.queue.nowMs;
  const [count] = how;
  fleet.start(...how);
  const areOver = (): boolean => fleet.members.length === count && fleet.members.every(hasOutcome);
  await fleet.runUntil(areOver, { stepMs: 50, maxMs: startMaxMs });
  const times = fleet.members.flatMap(({ grantedMs }) => grantedMs ?? []).toSorted((one, other) => one - other);
  const at = (share: number): number | undefined => {
    const grantedMs = times[Math.ceil(share * count) - 1];
    return grantedMs === undefined ? undefined : grantedMs - startedMs;
  };
  return {
    granted: times.length,
    refused: fleet.members.filter(({ refusal }) => refusal !== undefined).length,
    halfMs: at(0.5),
    mostMs: at(0.99),
    lastMs: at(1),
    calls: callsSince(before, fleet.server.calls),
  };
}

function hasOutcome({ grantedMs, refusal }: FleetMember): boolean {
  return grantedMs !== undefined || refusal !== undefined;
}

/** What came of an outage of the store. */
export interface OutageFigures {
  /** Grants that ended without their holders' will. */
  readonly endedGrants: number;
  /** The most members that served no IDs at one moment. */
  readonly silentMax: number;
  /** From the return of the store until all served again: milliseconds; undefined: not within minutes. */
  readonly againMs: number | undefined;
}

const outageStepMs = 100;
/** So long all must have served. */
const calmMs = 10_000;

/** Takes the store away for a while, and waits until all members serve again. */
export async function endureOutage(
  fleet: Fleet,
  state: Exclude<ServerState, "up">,
  lengthMs: number,
): Promise<OutageFigures> {
  const { members, queue, server } = fleet;
  const endedBefore = endedGrantsOf(members);
  let silentMax = 0;
  const look = (): boolean => {
    const silent = members.length - fleet.serving.length;
    silentMax = Math.max(silentMax, silent);
    return silent === 0;
  };
  server.state = state;
  await fleet.runUntil(() => !look() && false, { stepMs: outageStepMs, maxMs: lengthMs });
  server.state = "up";
  const backMs = queue.nowMs;
  // A grant that was near its end may end while the others are renewed.
  const isCalm = (): boolean => look() && queue.nowMs - Math.max(backMs, fleet.servingChangedMs) >= calmMs;
  await fleet.runUntil(isCalm, { stepMs: outageStepMs, maxMs: startMaxMs });
  return {
    endedGrants: endedGrantsOf(members) - endedBefore,
    silentMax,
    againMs: look() ? Math.max(0, fleet.servingChangedMs - backMs) : undefined,
  };
}

/** What a fleet asks of its store in a minute. */
export async function measureMinute(fleet: Fleet): Promise<ServerCalls> {
  const before = { ...fleet.server.calls };
  await fleet.run(60_000);
  return callsSince(before, fleet.server.calls);
}

function endedGrantsOf(members: readonly FleetMember[]): number {
  return members.reduce((sum, { endedGrants }) => sum + endedGrants, 0);
}

function callsSince(before: ServerCalls, now: ServerCalls): ServerCalls {
  const less = Object.fromEntries(
    (Object.keys(now) as (keyof ServerCalls)[]).map((name) => [name, now[name] - before[name]]),
  );
  return { ...now, ...less, busiestSecond: now.busiestSecond };
}
