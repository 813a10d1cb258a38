/** How many times longer than usual property tests run: `SNOWLANE_TEST_SCALE=100`. 1 by default. */
export const scale = Number(process.env["SNOWLANE_TEST_SCALE"] ?? 1);

/** Environment variable: `whole` runs what `npm test` runs a part of. `npm run all` sets it. */
export const sizeVariable = "SNOWLANE_TEST_SIZE";

/** Chooses by {@link sizeVariable}: what `npm test` runs, or the whole. */
export function sized<T>(part: T, whole: T): T {
  return process.env[sizeVariable] === "whole" ? whole : part;
}
