import { describe, expect, test } from "vitest";
import { reserveCountMax } from "./generator.ts";
import { layouts } from "./presets.ts";
import { startMs, still, granted, countOf, nextOf } from "../../test/support/worlds/granted-generator.ts";

const { sonyflake } = layouts;

describe("the lead rule", () => {
  test("a burst is served from the next ticks, and no further", () => {
    const generator = granted();
    const reservation = generator.reserve(reserveCountMax, startMs, "unary", still);
    expect(countOf(reservation)).toBe(11 * 4096);
    expect(generator.burstCount).toBe(10 * 4096);
    expect(generator.leadMs(startMs)).toBe(10);
    expect(generator.reserve(1, startMs, "unary", still)).toEqual({
      kind: "wait",
      cause: "burst",
      untilMs: startMs + 1,
    });
    expect(nextOf(generator, startMs + 1)).toEqual({ ms: startMs + 11, sequence: 0 });
  });

  test("a coarse tick is borrowed whole", () => {
    const generator = granted({ layout: sonyflake });
    expect(countOf(generator.reserve(10_000, startMs, "unary", still))).toBe(2 * 256);
    expect(generator.reserve(1, startMs + 3, "unary", still)).toMatchObject({ kind: "wait", untilMs: startMs + 10 });
    expect(nextOf(generator, startMs + 10)).toEqual({ ms: startMs + 20, sequence: 0 });
  });

  test("the second half of the furthest tick is for unary calls", () => {
    const generator = granted();
    const bulk = generator.reserve(reserveCountMax, startMs, "bulk", still);
    expect(countOf(bulk)).toBe(11 * 4096 - 2048);
    expect(generator.reserve(1, startMs, "bulk", still)).toMatchObject({ kind: "wait", untilMs: startMs + 1 });
    expect(nextOf(generator, startMs)).toEqual({ ms: startMs + 10, sequence: 2048 });
    expect(countOf(generator.reserve(3_000, startMs, "unary", still))).toBe(2047);
    expect(generator.reserve(1, startMs, "unary", still)).toMatchObject({ kind: "wait", untilMs: startMs + 1 });
  });

  test("what was kept is not lost: the next tick of the clock opens it to everyone", () => {
    const generator = granted();
    generator.reserve(reserveCountMax, startMs, "bulk", still);
    expect(countOf(generator.reserve(reserveCountMax, startMs + 1, "bulk", still))).toBe(4096);
  });

  test("a unary caller is served after a bulk caller took all that it may, by the same reading", () => {
    const generator = granted();
    generator.next(startMs, still);
    generator.reserve(reserveCountMax, startMs, "bulk", still);
    expect(generator.tryNext(startMs, still)).toBeDefined();
  });

  test("trying again at untilMs works", () => {
    // Worker 7 is granted, and mastodon has no worker; baidu's time ran out.
    for (const layout of Object.values(layouts).filter(({ name }) => name !== "baidu" && name !== "mastodon")) {
      for (const kind of ["unary", "bulk"] as const) {
        const generator = granted({ layout });
        let nowMs = startMs;
        for (let round = 0; round < 50; round++) {
          const answer = generator.reserve(reserveCountMax, nowMs, kind, still);
          if (answer.kind === "runs") continue;
          if (answer.kind !== "wait") throw new Error(answer.kind);
          expect(answer.untilMs).toBeGreaterThan(nowMs);
          nowMs = answer.untilMs;
          expect(generator.reserve(1, nowMs, kind, still).kind).toBe("runs");
        }
      }
    }
  });
});
