/**
 * A time in UTC: in seconds if it is a whole second, otherwise in milliseconds. A time outside of the range of dates is
 * shown as a number.
 */
export function timeText(unixMs: number): string {
  if (!Number.isFinite(unixMs) || Math.abs(unixMs) > 8.64e15) return `${unixMs} ms`;
  return new Date(unixMs).toISOString().replace(".000Z", "Z");
}
