/** How many times longer than usual property tests run: `SNOWLANE_TEST_SCALE=100`. 1 unless told. */
export const scale = Number(process.env["SNOWLANE_TEST_SCALE"] ?? 1);
