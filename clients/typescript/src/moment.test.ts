import { describe, expect, test } from "vitest";
import { FakeSource } from "../test/fake-source.ts";
import { FakeClock } from "./fake-clock.ts";
import { Moment } from "./moment.ts";
import { PrefetchBuffer } from "./prefetch-buffer.ts";

const hour = 3_600_000;

describe("how long ago a moment was", () => {
  test("time counts, and a suspend beside it", async () => {
    const clock = new FakeClock();
    const moment = new Moment(clock);
    await clock.advance(300);
    expect(moment.elapsedMs()).toBe(300);
    clock.suspend(hour);
    expect(moment.elapsedMs()).toBe(300 + hour);
  });

  test("a step of the wall clock does not count, neither forward nor back", async () => {
    const clock = new FakeClock();
    const moment = new Moment(clock);
    await clock.advance(300);
    clock.stepWall(hour);
    expect(moment.elapsedMs()).toBe(300);
    clock.stepWall(-2 * hour);
    expect(moment.elapsedMs()).toBe(300);
  });

  test("where the uptime is unknown, a step forward counts as time", () => {
    const clock = new FakeClock();
    const moment = new Moment({
      monotonicMs: () => clock.monotonicMs(),
      wallMs: () => clock.wallMs(),
      schedule: () => () => {},
    });
    clock.stepWall(hour);
    expect(moment.elapsedMs()).toBe(hour);
  });
});

describe("a buffer", () => {
  function make() {
    const clock = new FakeClock();
    const source = new FakeSource(clock);
    return { clock, source, buffer: new PrefetchBuffer(source, { clock, random: () => 0.5, countMin: 32 }) };
  }

  test("hands out no ID from before a suspend that was longer than maxAge, when its use is slow", async () => {
    const { buffer, clock } = make();
    expect(await buffer.nextId()).toBe(1n);
    clock.suspend(4_000);
    expect(buffer.nextId()).toBe(2n);
    clock.suspend(1_000);
    expect(await buffer.nextId()).toBe(33n);
    expect(buffer.stats()).toMatchObject({ dropped: 30, handedOut: 3 });
  });

  test("drops an answer whose reservation was under way when the machine was suspended, and asks again", async () => {
    const { buffer, clock, source } = make();
    source.delayMs = 10;
    const waiting = buffer.nextId();
    await clock.advance(5);
    clock.suspend(hour);
    await clock.advance(5);
    expect(buffer.stats()).toMatchObject({ handedOut: 0, refillFailures: 1, stock: 0 });
    await clock.advance(1_000);
    expect(await waiting).toBe(33n);
  });

  test("hands out at most 63 IDs from before such a suspend, when its use is fast", async () => {
    const { buffer, clock } = make();
    for (let step = 0; step < 500; step++) {
      for (let count = 0; count < 200; count++) await buffer.nextId();
      await clock.advance(10);
    }
    const { reserved } = buffer.stats();
    expect(buffer.stats().stock).toBeGreaterThan(1_000);
    clock.suspend(hour);
    const ids: bigint[] = [];
    for (let count = 0; count < 1_000; count++) ids.push(await buffer.nextId());
    expect(ids.filter((id) => id <= BigInt(reserved)).length).toBeLessThanOrEqual(63);
  });

  test("hands out no block from before such a suspend", async () => {
    const { buffer, clock } = make();
    expect(await buffer.nextIds(2)).toEqual([1n, 2n]);
    clock.suspend(hour);
    expect(await buffer.nextIds(2)).toEqual([33n, 34n]);
  });

  test("keeps its stock when the wall clock is set", async () => {
    const { buffer, clock } = make();
    await buffer.nextId();
    clock.stepWall(hour);
    expect(buffer.nextId()).toBe(2n);
    expect(buffer.stats().dropped).toBe(0);
  });
});
