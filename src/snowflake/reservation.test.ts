import { expect, test } from "vitest";
import { type Refusal, refusalError } from "./reservation.ts";

test.each<[Refusal, string, number]>([
  [{ kind: "wait", cause: "burst", untilMs: 1_003 }, "BURST_EXCEEDED", 3],
  [{ kind: "wait", cause: "rollback", untilMs: 1_500 }, "CLOCK_ROLLED_BACK", 500],
  [{ kind: "wait", cause: "window", untilMs: 1_020 }, "WINDOW_EXPIRED", 20],
  [{ kind: "rolled-back", aheadMs: 3_000, untilMs: 2_000 }, "CLOCK_ROLLED_BACK", 1_000],
  [{ kind: "wait", cause: "burst", untilMs: 1_000 }, "BURST_EXCEEDED", 1],
])("%j is %s, to be tried again after %d ms", (refusal, reason, retryAfterMs) => {
  const error = refusalError(refusal, 1_000);
  expect(error).toMatchObject({ reason, retryAfterMs });
  expect(error.metadata["retry_after_ms"]).toBe(String(retryAfterMs));
});
