import type { ParsedId } from "../snowflake/parse.ts";

/** Writes Unix milliseconds as RFC 3339 in UTC. */
export function isoOfMs(unixMs: number): string {
  return new Date(unixMs).toISOString();
}

/** Writes Unix nanoseconds as RFC 3339 in UTC: milliseconds, and as many digits more as the time has. */
export function isoOfNs(unixNs: bigint): string {
  const belowMs = ((unixNs % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const text = isoOfMs(Number((unixNs - belowMs) / 1_000_000n));
  if (belowMs === 0n) return text;
  return `${text.slice(0, -1)}${String(belowMs).padStart(6, "0").replace(/0+$/, "")}Z`;
}

/** Writes when an ID was made, as exactly as its layout tells. */
export function isoOfId({ layout, createTimeMs, createTimeNs }: ParsedId): string {
  return layout.tickNs < 1_000_000 ? isoOfNs(createTimeNs) : isoOfMs(createTimeMs);
}
