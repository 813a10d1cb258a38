import { expect, test } from "vitest";
import { type ErrorReason, IdError } from "../errors.ts";
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

test("a wait that is over by now is still one of a millisecond", () => {
  const phase = { kind: "waiting", for: "mark", untilMs: 900, detail: "" } as const;
  expect(phaseError(phase, 1_000)?.retryAfterMs).toBe(1);
});

test("a start that failed for good is answered with its error", () => {
  const error = new IdError("INVALID_CONFIG", "The layout is another one.");
  expect(phaseError({ kind: "failed", error }, 0)).toBe(error);
});

test.each(["releasing", "released"] as const)("a worker that is %s says that another server can be called", (kind) => {
  expect(phaseError({ kind }, 0)?.reason).toBe("SHUTTING_DOWN");
});

test.each<readonly [cause: ErrorReason | undefined, answer: ErrorReason, message: RegExp]>([
  [undefined, "WORKER_LEASE_LOST", /it is acquiring one\.$/],
  ["WORKER_LEASE_LOST", "WORKER_LEASE_LOST", /it is acquiring one\.$/],
  ["NO_FREE_WORKER_ID", "WORKER_LEASE_LOST", /all are in use\.$/],
  ["STORE_UNAVAILABLE", "STORE_UNAVAILABLE", /the store of the worker records cannot be used\.$/],
  ["CLOCK_BEFORE_EPOCH", "CLOCK_BEFORE_EPOCH", /^cause$/],
  ["TIMESTAMP_EXHAUSTED", "TIMESTAMP_EXHAUSTED", /^cause$/],
])("while a worker ID is acquired, %s is answered as %s", (cause, answer, message) => {
  const problem = cause && new IdError(cause, "cause");
  const error = phaseError({ kind: "acquiring", problem }, 0);
  expect([error?.reason, error?.message]).toEqual([answer, expect.stringMatching(message)]);
});
