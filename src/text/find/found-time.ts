import type { FoundTime } from "./find.ts";
import type { TokenContext } from "./token-context.ts";

const dayNs = 86_400_000_000_000n;
/** 2001-09-10, when Unix seconds got ten digits. */
const firstNs = 1_000_080_000n * 1_000_000_000n;
const units: Readonly<Record<number, Pick<FoundTime, "unit"> & { readonly ns: bigint }>> = {
  10: { unit: "s", ns: 1_000_000_000n },
  13: { unit: "ms", ns: 1_000_000n },
  16: { unit: "us", ns: 1_000n },
  19: { unit: "ns", ns: 1n },
};
/**
 * A line of InfluxDB's line protocol up to its time.
 *
 * @see https://docs.influxdata.com/influxdb/v2/reference/syntax/line-protocol/
 */
const lineProtocol = /(?:^|[\s,])[^\s=,]+=(?:"[^"\n]*"|[^\s,"]+) $/;

/** Reads digits as a Unix time between 2001-09-10 and a year from now; undefined for all others. */
export function readUnixTime(digits: string, nowMs: number): Pick<FoundTime, "unit" | "unixNs"> | undefined {
  const unit = units[digits.length];
  if (unit === undefined) return undefined;
  const unixNs = BigInt(digits) * unit.ns;
  if (unixNs < firstNs || unixNs >= BigInt(Math.trunc(nowMs)) * 1_000_000n + 366n * dayNs) return undefined;
  return { unit: unit.unit, unixNs };
}

/**
 * Whether digits are nanoseconds of this day, or of these 30 days to the microsecond: this is more likely the current
 * time than an ID, because only the IDs of six hours of one year read like that.
 */
export function isNanosecondNow(digits: string, { unit, unixNs }: Pick<FoundTime, "unit" | "unixNs">, nowMs: number) {
  const distanceNs = unixNs - BigInt(Math.trunc(nowMs)) * 1_000_000n;
  const nearNs = (digits.endsWith("000") ? 30n : 1n) * dayNs;
  return unit === "ns" && distanceNs < nearNs && -distanceNs < nearNs;
}

/**
 * N2: whether digits that read as a Unix time are one: alone on their line, in a mention `<t:...>`, or assigned to a
 * key of time. Nanoseconds look like IDs, so that they need a key of time and none of an ID, or zeros at their end, or
 * the place of the time in a line of InfluxDB.
 *
 * @param line - The text before the digits on their line, 200 characters at most.
 */
export function isUnixTime(digits: string, unit: FoundTime["unit"], context: TokenContext, line: string): boolean {
  const { isAlone, isAssigned, isTime, isId, isOther } = context;
  if (isOther && !isTime) return false;
  const isKeyed = (isTime && isAssigned) || line.endsWith("<t:");
  if (unit !== "ns") return isKeyed || (isAlone && !isId);
  if (isId) return false;
  return isKeyed || (/0{6}$/.test(digits) && (isAlone || isTime)) || isTimeOfLineProtocol(context, line);
}

function isTimeOfLineProtocol({ after }: TokenContext, line: string): boolean {
  return (after === "" || after === "\n") && lineProtocol.test(line.slice(-80)) && /^[^\s,=]+[, ]\S*/.test(line);
}
