/** A length of time for people: `14.9 s`, `3 min`, `2 h 5 min`. One below 0 counts as 0. */
export function lengthOfTime(ms: number): string {
  if (ms < 60_000) return `${(Math.max(0, ms) / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
