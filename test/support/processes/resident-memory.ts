import { readFileSync } from "node:fs";

/**
 * The memory that a process holds, in MB of 1,000,000 bytes, as Linux reports it. NaN where the process is gone but not
 * yet waited for.
 */
export function residentMb(processId: number | undefined): number {
  const kib = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${processId}/status`, "utf8"))?.[1];
  return (Number(kib) * 1_024) / 1e6;
}
