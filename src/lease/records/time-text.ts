/** A time in whole seconds of UTC where it is one, else in milliseconds; a time that no date can name as a number. */
export function timeText(unixMs: number): string {
  if (!Number.isFinite(unixMs) || Math.abs(unixMs) > 8.64e15) return `${unixMs} ms`;
  return new Date(unixMs).toISOString().replace(".000Z", "Z");
}
