import { readFileSync } from "node:fs";

/**
 * The memory that a process holds, in MiB, as Linux reports it. NaN where the process is gone but not yet waited for.
 */
export function residentMib(processId: number | undefined): number {
  const kib = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${processId}/status`, "utf8"))?.[1];
  return Number(kib) / 1_024;
}
