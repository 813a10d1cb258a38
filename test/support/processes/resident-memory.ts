import { readFileSync } from "node:fs";

/**
 * The memory that a process holds, in MiB, as Linux reports it. NaN where the process is gone but not yet waited for.
 */
export function residentMib(processId: number | undefined): number {
  const kib = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${processId}/status`, "utf8"))?.[1];
  return Number(kib) / 1_024;
}

/** As {@link residentMib}, in MB of 1,000,000 bytes. */
export function residentMb(processId: number | undefined): number {
  return (residentMib(processId) * 1_024 ** 2) / 1e6;
}
