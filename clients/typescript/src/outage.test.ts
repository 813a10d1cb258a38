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
  /** The reservations: their first IDs, and when they were made. */
  const reservations: { readonly firstId: bigint; readonly atMs: number }[] = [];
  const reserve = source.reserve.bind(source);
  source.reserve = async (asked, limits) => {
    const runs = await reserve(asked, limits);
    reservations.push({ firstId: runs[0]!.firstId, atMs: clock.monotonicMs() });
    return runs;
  };
  const ageMs = (id: bigint): number =>
    clock.monotonicMs() - reservations.findLast(({ firstId }) => firstId <= id)!.atMs;
  /** Takes IDs at an even rate for the given time; a call that fails ends the test. */
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
  return { clock, source, buffer, run, die, ageMs };
}

describe("a stock for an outage", () => {
  test("1,000 IDs/s go on for ten minutes without any server, and none repeats once they are back", async () => {
    const { buffer, source, run, die } = make();
    await run(3 * minute, 1_000);
    expect(buffer.stats().outageLeftMs).toBeGreaterThan(10 * minute);
    const { waits } = buffer.stats();
    die();
    await run(10 * minute, 1_000);
    expect(buffer.stats()).toMatchObject({ waits });
    source.answer = undefined;
    await run(2 * minute, 1_000);
    expect(buffer.stats()).toMatchObject({ waits });
  });

  test("it is filled gently: 95 % after two minutes, and no ask is above 28 s of use", async () => {
    const { buffer, source, run } = make();
    await run(2 * minute, 1_000);
    expect(buffer.stats().stock).toBeGreaterThan(0.95 * 610_000);
    expect(buffer.stats().stock).toBeLessThan(1.05 * 610_000);
    expect(Math.max(...source.asked)).toBeLessThan(28_000);
  });

  test.each([
    [10_000, 100],
    [10 * minute, 1_000],
  ])("with servers that are well, IDs are as fresh as without it (outage %i ms, %i IDs/s)", async (outageMs, rate) => {
    const { buffer, clock, run, ageMs } = make({ outageMs });
    await run(3 * minute, rate);
    const ages: number[] = [];
    for (let step = 0; step < 1_200; step++) {
      for (const id of await buffer.nextIds(rate / 20)) ages.push(ageMs(id));
      await clock.advance(50);
    }
    expect(ages.toSorted((a, b) => a - b)[Math.floor(ages.length * 0.99)]).toBeLessThanOrEqual(1_300);
    const { reserved, handedOut, dropped, stock } = buffer.stats();
    expect(handedOut + dropped + stock).toBe(reserved);
    expect((reserved - stock) / handedOut).toBeLessThan(2.3);
  });

  test("once servers are back, fresh IDs come first again", async () => {
    const { source, buffer, run, die, ageMs } = make({ outageMs: 10_000, maxAgeMs: 40_000 });
    await run(minute, 100);
    die();
    await run(8_000, 100);
    expect(ageMs(await buffer.nextId())).toBeGreaterThan(5_000);
    source.answer = undefined;
    await run(4_000, 100);
    expect(ageMs(await buffer.nextId())).toBeLessThan(1_500);
  });

  test("an outage at any moment is ridden over, that before the first IDs grow too old among them", async () => {
    for (const atMs of [30_000, 38_000, 39_900, 45_000, 70_000]) {
      const { source, buffer, run, die } = make({ outageMs: 10_000, maxAgeMs: 40_000 });
      await run(atMs, 100);
      const { waits } = buffer.stats();
      die();
      await run(10_000, 100);
      expect(buffer.stats()).toMatchObject({ waits });
      source.answer = undefined;
      await run(2_000, 100);
      expect(buffer.stats()).toMatchObject({ waits });
      buffer.close();
    }
  });

  test("IDs that count as young do so for an eighth of maxAge at least, so that what is reserved stays bounded", async () => {
    const { buffer, run } = make({ outageMs: 16_000, maxAgeMs: 16_000 });
    await run(2 * minute, 100);
    const begun = buffer.stats();
    await run(2 * minute, 100);
    const { reserved, handedOut } = buffer.stats();
    expect((reserved - begun.reserved) / (handedOut - begun.handedOut)).toBeLessThan(10);
  });

  test("it follows a rate that falls, and a buffer that nobody uses goes to sleep", async () => {
    const { buffer, source, run, clock } = make({ outageMs: 10_000 });
    await run(2 * minute, 100);
    await run(2 * minute, 1);
    expect(buffer.stats().stock).toBeLessThan(128);
    await clock.advance(3 * minute);
    const asked = source.asked.length;
    expect(buffer.stats()).toMatchObject({ stock: 0, outageLeftMs: 0 });
    await clock.advance(10 * minute);
    expect(source.asked).toHaveLength(asked);
    await buffer.nextId();
    expect(buffer.stats().stock).toBeGreaterThan(0);
  });

  test("stockMax bounds the young IDs that it aims at", async () => {
    const { buffer, run } = make({ stockMax: 20_000 });
    await run(4 * minute, 1_000);
    expect(buffer.stats().stock).toBeGreaterThan(18_000);
    expect(buffer.stats().stock).toBeLessThanOrEqual(20_000 + 1_250);
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
