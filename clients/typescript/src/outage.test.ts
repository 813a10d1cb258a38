import { describe, expect, test } from "vitest";
import { FakeSource } from "../test/fake-source.ts";
import { SnowlaneError } from "./errors.ts";
import { FakeClock } from "./fake-clock.ts";
import { PrefetchBuffer, type PrefetchOptions } from "./prefetch-buffer.ts";

const minute = 60_000;

function make(options: PrefetchOptions = {}) {
  const clock = new FakeClock();
  const source = new FakeSource(clock);
  const buffer = new PrefetchBuffer(source, { clock, random: () => 0.5, outageMs: 10 * minute, ...options });
  const ids = new Set<bigint>();
  let count = 0;
  /** Takes IDs at an even rate for so long; a call that fails ends the test. */
  const run = async (ms: number, perSecond: number): Promise<void> => {
    const stepMs = Math.max(250, 1_000 / perSecond);
    for (let atMs = 0; atMs < ms; atMs += stepMs) {
      const taken = Math.round((perSecond * stepMs) / 1_000);
      for (const id of await buffer.nextIds(taken)) ids.add(id);
      count += taken;
      await clock.advance(stepMs);
    }
    expect(ids.size).toBe(count);
  };
  const die = (): void => {
    source.answer = () => {
      throw new SnowlaneError("UNREACHABLE", "dead", { code: "UNAVAILABLE" });
    };
  };
  return { clock, source, buffer, run, die };
}

describe("a stock for an outage", () => {
  test("1,000 IDs/s go on for ten minutes without any server, and none repeats once they are back", async () => {
    const { buffer, source, run, die } = make();
    await run(3 * minute, 1_000);
    expect(buffer.stats().outageLeftMs).toBeGreaterThan(10 * minute);
    const { waits } = buffer.stats();
    die();
    await run(10 * minute, 1_000);
    expect(buffer.stats()).toMatchObject({ waits, dropped: 0 });
    source.answer = undefined;
    await run(2 * minute, 1_000);
    expect(buffer.stats()).toMatchObject({ waits, dropped: 0 });
  });

  test("it is filled gently: a part each second, 95 % after 90 s", async () => {
    const { buffer, source, run } = make();
    await run(90_000, 1_000);
    expect(buffer.stats().stock).toBeGreaterThan(0.93 * 610_000);
    expect(buffer.stats().stock).toBeLessThan(0.97 * 610_000);
    expect(Math.max(...source.asked)).toBeLessThan(24_000);
    expect(source.asked.length).toBeLessThan(120);
  });

  test("it stays at its target, and an even rate throws nothing away", async () => {
    const { buffer, run } = make({ outageMs: 10_000, maxAgeMs: 20_000 });
    await run(minute, 100);
    const begun = buffer.stats();
    await run(4 * minute, 100);
    const { stock, dropped, reserved, handedOut } = buffer.stats();
    expect(stock).toBeGreaterThan(1_300);
    expect(stock).toBeLessThan(1_600);
    expect(dropped).toBe(begun.dropped);
    expect(handedOut + dropped + stock).toBe(reserved);
  });

  test("it follows a rate that falls, and a buffer that nobody uses goes to sleep", async () => {
    const { buffer, source, run, clock } = make({ outageMs: 10_000 });
    await run(2 * minute, 100);
    await run(2 * minute, 1);
    expect(buffer.stats().stock).toBeLessThan(64);
    await clock.advance(2 * minute);
    const asked = source.asked.length;
    expect(buffer.stats()).toMatchObject({ stock: 0, outageLeftMs: 0 });
    await clock.advance(10 * minute);
    expect(source.asked).toHaveLength(asked);
    await buffer.nextId();
    expect(buffer.stats().stock).toBeGreaterThan(0);
  });

  test("stockMax bounds it", async () => {
    const { buffer, run } = make({ stockMax: 20_000 });
    await run(4 * minute, 1_000);
    expect(buffer.stats().stock).toBeGreaterThan(18_000);
    expect(buffer.stats().stock).toBeLessThanOrEqual(20_000);
  });

  test("close drops all of it", async () => {
    const { buffer, run } = make();
    await run(minute, 1_000);
    const { stock } = buffer.stats();
    buffer.close();
    expect(buffer.stats()).toMatchObject({ stock: 0, dropped: stock });
  });

  test("options out of range are refused", () => {
    const bad = [
      { outageMs: 999 },
      { outageMs: 30 * minute + 1 },
      { outageMs: 10 * minute, maxAgeMs: 10 * minute - 1 },
      { outageMs: 10 * minute, maxAgeMs: 60 * minute + 1 },
      { outageMs: 10 * minute, stockMax: 0 },
    ];
    for (const options of bad) expect(() => make(options)).toThrow(RangeError);
    make({ outageMs: 30 * minute, maxAgeMs: 60 * minute }).buffer.close();
  });
});
