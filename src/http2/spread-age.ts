/**
 * At which age a connection ends: at nine tenths of `ageMs`, up to all of it, evenly. Those that began together, as
 * after an outage, would otherwise come back together each time (docs/adr/0204).
 *
 * @param share - From 0 to 1: where the age lies between the two.
 */
export function spreadAge(ageMs: number, share = Math.random()): number {
  return ageMs * (0.9 + 0.1 * share);
}
