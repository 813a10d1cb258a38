import type { ParsedId } from "./parse.ts";
import { nsPerMs, nsPerMsBig } from "./nanoseconds.ts";

/** Writes Unix milliseconds as RFC 3339 in UTC. */
export function isoOfMs(unixMs: number): string {
  return new Date(unixMs).toISOString();
}

/** Writes Unix nanoseconds as RFC 3339 in UTC: milliseconds, and further digits if the time has them. */
export function isoOfNs(unixNs: bigint): string {
  const belowMs = ((unixNs % nsPerMsBig) + nsPerMsBig) % nsPerMsBig;
  const text = isoOfMs(Number((unixNs - belowMs) / nsPerMsBig));
  if (belowMs === 0n) return text;
  return `${text.slice(0, -1)}${String(belowMs).padStart(6, "0").replace(/0+$/, "")}Z`;
}

/** Writes when an ID was made, as exactly as its layout shows it. */
export function isoOfId({ layout, createTimeMs, createTimeNs }: ParsedId): string {
  return layout.tickNs < nsPerMs ? isoOfNs(createTimeNs) : isoOfMs(createTimeMs);
}
