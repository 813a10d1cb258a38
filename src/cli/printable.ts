/** Values as people read them on a terminal. */

/** Writes a length of time in seconds. */
export function secondsOf(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

/** Removes control characters: a server may send any text, and a terminal would obey some of it. */
export function printable(text: string): string {
  return text.replaceAll(/[^ -~]/gu, "?");
}

/** The last and the first time that can be written. */
const dateEndMs = 8.64e15;

/** Writes Unix milliseconds as RFC 3339; a mark beyond the range of dates as the nearest time that can be written. */
export function timeOf(unixMs: number): string {
  return new Date(Math.min(Math.max(unixMs, -dateEndMs), dateEndMs)).toISOString();
}
