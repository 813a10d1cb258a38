import { expect, test } from "vitest";
import { phaseError } from "./serving-error.ts";

test.each([
  [3_573_446, "59 min"],
  [14_801, "14.9 s"],
  [3, "0.1 s"],
])("a wait of %i ms is said in a unit that people read, and its metadata has the milliseconds", (leftMs, said) => {
  const error = phaseError({ kind: "waiting", for: "quarantine", untilMs: 1_000 + leftMs, detail: "" }, 1_000);
  expect(error?.message).toBe(`No worker ID can be used for another ${said}: the store is under quarantine.`);
  expect(error).toMatchObject({ retryAfterMs: leftMs, metadata: { wait_ms: String(leftMs) } });
});
