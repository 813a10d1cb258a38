import { expect, test } from "vitest";
import { holderUntilMs } from "./candidates.ts";

test("on a durable store a record may be taken over once it has expired, whatever its mark", () => {
  expect(holderUntilMs({ expiresMs: 13_000, markMs: 20_000 }, "durable")).toBe(13_000);
});

test("where data may be lost, a record may be taken over only once every clock has passed its mark, too", () => {
  expect(holderUntilMs({ expiresMs: 13_000, markMs: 20_000 }, "lossy")).toBe(21_000);
  expect(holderUntilMs({ expiresMs: 30_000, markMs: 20_000 }, "lossy")).toBe(30_000);
});
