import { readFileSync } from "node:fs";

/** What a process holds in memory, in MiB, as Linux tells it. NaN where the process is gone but not yet waited for. */
export function residentMib(processId: number | undefined): number {
  const kib = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${processId}/status`, "utf8"))?.[1];
  return Number(kib) / 1_024;
}
