/**
 * The age at which a connection ends: between nine tenths of `ageMs` and all of it, evenly distributed. Connections
 * that began together, as after an outage, would otherwise come back together each time (docs/adr/0204).
 *
 * @param share - From 0 to 1: where the age lies between the two.
 */
export function spreadAge(ageMs: number, share = Math.random()): number {
  return ageMs * (0.9 + 0.1 * share);
}
