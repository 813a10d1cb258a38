import { layouts } from "../../../src/snowflake/presets.ts";
import { kubernetesTiming } from "../../../src/store/kubernetes/kubernetes.ts";
import { redisTiming, serverTiming, type StoreTiming } from "../../../src/store/record-store.ts";
import { sqliteTiming } from "../../../src/store/sqlite/sqlite.ts";
import type { Finding } from "../../bench/benchmark.ts";
import { Fleet, type FleetParts } from "./fleet.ts";
import { endureOutage, measureMinute, type StartFigures, startTogether } from "./fleet-figures.ts";
import type { ServerModel } from "./modelled-server.ts";

const layout = layouts.twitter;
const seed = 1;

/** A database beside its servers, on a disk that takes 2 ms for a commit: 2,000 writes a second. */
const nearModel: ServerModel = {
  roundTripMs: 1,
  atOnce: 4,
  connectMs: 5,
  readMs: 0.2,
  writeMs: 2,
  listedRecordMs: 0.001,
};
/** The same on another continent. */
const farModel: ServerModel = { ...nearModel, roundTripMs: 100 };

const timings: readonly (readonly [string, StoreTiming])[] = [
  ["SQLite", sqliteTiming],
  ["PostgreSQL, MySQL, MariaDB, etcd, ZooKeeper", serverTiming],
  ["Redis", redisTiming],
  ["Kubernetes", kubernetesTiming],
];

/** Writes that renewals need: arithmetic on the defaults of the stores. */
export function renewalTable(): Finding {
  const counts = [100, 1_024, 8_192];
  const rows = timings.map(([name, { renewalPeriodMs }]) =>
    [name, `${renewalPeriodMs / 1_000} s`].concat(
      counts.map((count) => formatFigure((count * 1_000) / renewalPeriodMs)),
    ),
  );
  const columns = ["store", "renewal", ...counts.map((count) => `writes a second of ${formatFigure(count)} workers`)];
  return { title: "Renewals", columns, rows };
}

/** What {@link startTable} has in its rows. */
interface StartCase {
  readonly title: string;
  readonly model?: ServerModel;
  readonly hasClock?: boolean;
  /** An earlier fleet on the same store, and how it ended. */
  readonly before?: { readonly count: number; readonly end: "stopped" | "killed" };
  readonly count: number;
  readonly spreadMs?: number;
  readonly patienceMs?: number;
}

const startCases = (size: number): readonly StartCase[] => {
  const half = size / 2;
  const stopped = { count: size, end: "stopped" } as const;
  const killed = { count: size, end: "killed" } as const;
  const most = Math.round(0.55 * size);
  const mostKilled = { count: most, end: "killed" } as const;
  const patienceMs = 120_000;
  return [
    { title: "a new deployment", count: size },
    { title: "a new deployment, a tenth of the pods", count: size / 10 },
    { title: "a new deployment, 100 ms away", count: size, model: farModel },
    { title: "again after an orderly stop", count: size, before: stopped },
    { title: "the same, over 30 s", count: size, before: stopped, spreadMs: 30_000 },
    { title: "after kill -9 of as many, half as many pods", count: half, before: { count: half, end: "killed" } },
    { title: "after kill -9 of as many", count: size, before: killed },
    { title: "after kill -9 of most, `--wait-for-worker-id 2m`", count: most, before: mostKilled, patienceMs },
    { title: "the same on a store without a clock", count: most, before: mostKilled, patienceMs, hasClock: false },
  ];
};

/** The figures of pods that start at once. */
export async function startTable(size: number, onRow: (row: readonly string[]) => void): Promise<Finding> {
  const columns = ["start", "pods", "refused", "half", "99 %", "all", "lists", "writes", "conflicts", "busiest second"];
  const rows: (readonly string[])[] = [];
  for (const one of startCases(size)) {
    const figures = await startOf(one);
    const { calls, refused, halfMs, mostMs, lastMs } = figures;
    const times = [halfMs, mostMs, lastMs].map(formatMs);
    const asked = [calls.lists, calls.writes, calls.conflicts, calls.busiestSecond].map(formatFigure);
    rows.push([one.title, formatFigure(one.count), formatFigure(refused), ...times, ...asked]);
    onRow(rows.at(-1)!);
  }
  return { title: "Pods that start at once", columns, rows };
}

async function startOf({ model, hasClock, before, count, spreadMs, patienceMs }: StartCase): Promise<StartFigures> {
  const fleet = makeFleet({ model: model ?? nearModel, hasClock: hasClock ?? true });
  if (before !== undefined) {
    await startTogether(fleet, before.count);
    if (before.end === "killed") fleet.kill();
    else await fleet.stop();
    fleet.server.calls.busiestSecond = 0;
  }
  return await startTogether(fleet, count, spreadMs ?? 0, { workerIdPatienceMs: patienceMs });
}

/** The figures of outages: of half as many servers as there are worker IDs, and of nearly as many. */
export async function outageTable(size: number, onRow: (row: readonly string[]) => void): Promise<Finding> {
  const rows: (readonly string[])[] = [];
  const add = async (count: number, state: "refusing" | "silent", lengths: readonly number[]): Promise<void> => {
    const fleet = makeFleet();
    // Renewals that are spread, as those of servers that did not start together are.
    await startTogether(fleet, count, serverTiming.renewalPeriodMs);
    for (const seconds of lengths) {
      await fleet.run(10_000);
      const { endedGrants, silentMax, againMs } = await endureOutage(fleet, state, seconds * 1_000);
      const how = state === "refusing" ? "connections are refused" : "no answer at all";
      const figures = [count, endedGrants, silentMax].map(formatFigure);
      rows.push([`${seconds} s, ${how}`, ...figures, formatMs(againMs)]);
      onRow(rows.at(-1)!);
    }
  };
  for (const state of ["refusing", "silent"] as const) await add(size / 2, state, [10, 20, 25, 30, 45]);
  await add(size, "refusing", [25]);
  const columns = [
    "outage",
    "servers",
    "grants that ended",
    "without IDs at worst",
    "after its return all serve within",
  ];
  return { title: "Outages of the store", columns, rows };
}

/** The figures of stores that write too slowly. */
export async function slowTable(size: number, onRow: (row: readonly string[]) => void): Promise<Finding> {
  const rows: (readonly string[])[] = [];
  for (const perSecond of [200, 100, 50, 25]) {
    const fleet = makeFleet({ model: { ...nearModel, atOnce: 1, writeMs: 1_000 / perSecond } });
    fleet.start(size);
    await fleet.run(240_000);
    const { writes } = await measureMinute(fleet);
    const needed = (size * 1_000) / serverTiming.renewalPeriodMs;
    const figures = [perSecond, needed, fleet.serving.length, writes / 60];
    rows.push([formatFigure(size), ...figures.map(formatFigure)]);
    onRow(rows.at(-1)!);
  }
  const columns = [
    "servers",
    "writes a second that the store makes",
    "that renewals need",
    "serve after 5 minutes",
    "writes a second then",
  ];
  return { title: "Stores that write too slowly", columns, rows };
}

function makeFleet(parts: Partial<FleetParts> = {}): Fleet {
  return new Fleet({ model: nearModel, layout, seed, hasClock: true, ...parts });
}

/** Three digits, grouped by commas. */
export function formatFigure(value: number): string {
  const [, power = 0] = value.toExponential().split("e").map(Number);
  const digits = value >= 100 || Number.isInteger(value) ? 0 : Math.max(0, 2 - power);
  return value.toFixed(digits).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
}

function formatMs(ms: number | undefined): string {
  if (ms === undefined) return "never";
  return ms < 1_000 ? `${Math.ceil(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
