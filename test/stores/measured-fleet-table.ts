import { loadavg } from "node:os";
import type { Finding } from "../bench/benchmark.ts";
import { formatFigure } from "../simulation/fleet/fleet-tables.ts";
import { fleetStores } from "./fleet-stores.ts";
import { type FleetMeasures, measureFleet } from "./measure-fleet.ts";

const restMs = 30_000;
/** A file carries fewer processes than a server: they are all on one machine, and take turns. */
const fileShare = 1 / 5;
const outageMs = 10_000;
const columns = [
  "store",
  "processes",
  "half have an ID",
  "all",
  "writes to start",
  "writes a second at rest",
  "bytes logged for each write",
  "records take",
  "connections",
  "a process",
  "10 s after kill -9: grants that ended",
  "all go on within",
];

/**
 * What real processes ask of each real store.
 *
 * @throws Error where two processes had one worker ID, or one ID.
 */
export async function measuredTable(processes: number, onRow: (row: readonly string[]) => void): Promise<Finding> {
  const rows: (readonly string[])[] = [];
  for (const kind of Object.keys(fleetStores)) {
    const count = kind === "sqlite" ? Math.ceil(processes * fileShare) : processes;
    const measures = await measureFleet(kind, { processes: count, restMs, outageMs });
    if (measures.repeated > 0) throw new Error(`On ${kind}, ${measures.repeated} IDs or worker IDs came twice.`);
    rows.push(rowOf(measures));
    onRow(rows.at(-1)!);
  }
  const load = `load ${Math.round(loadavg()[2]!)} over the last 15 minutes`;
  return { title: "Real processes", note: `The ${load}.`, columns, rows };
}

function rowOf(measures: FleetMeasures): readonly string[] {
  const { loggedBytesPerWrite, outage } = measures;
  return [
    measures.store,
    formatFigure(measures.processes),
    inSeconds(measures.halfMs),
    inSeconds(measures.lastMs),
    formatFigure(measures.startWrites),
    measures.writesPerSecond.toFixed(1),
    loggedBytesPerWrite === undefined ? "-" : formatFigure(Math.round(loggedBytesPerWrite)),
    `${formatFigure(Math.round(measures.keptBytes / 1_024))} KiB`,
    formatFigure(measures.connections),
    `${Math.round(measures.residentMbEach)} MB`,
    outage === undefined ? "-" : formatFigure(outage.endedGrants),
    outage === undefined ? "-" : inSeconds(outage.againMs),
  ];
}

function inSeconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
