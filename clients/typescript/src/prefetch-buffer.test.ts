import { describe, expect, test, vi } from "vitest";
import { FakeSource } from "../test/fake-source.ts";
import { HastyClock } from "../test/hasty-clock.ts";
import { systemClock } from "./clock.ts";
import { SnowlaneError } from "./errors.ts";
import { FakeClock } from "./fake-clock.ts";
import { PrefetchBuffer, type PrefetchOptions } from "./prefetch-buffer.ts";

function make(options: PrefetchOptions = {}) {
  const clock = new FakeClock();
  const source = new FakeSource(clock);
  const buffer = new PrefetchBuffer(source, { clock, random: () => 0.5, countMin: 32, ...options });
  return { clock, source, buffer };
}

function expectBalance(buffer: PrefetchBuffer): void {
  const { reserved, handedOut, dropped, stock } = buffer.stats();
  expect(handedOut + dropped + stock).toBe(reserved);
}

const unavailable = (retryAfterMs?: number) =>
  new SnowlaneError("STORE_UNAVAILABLE", "down", { code: "UNAVAILABLE", retryAfterMs });

async function reasonOf(work: unknown): Promise<string> {
  try {
    await work;
  } catch (error) {
    return (error as SnowlaneError).reason;
  }
  return "none";
}

describe("stock", () => {
  test("the first caller waits for a reservation, the next ones get a bigint at once", async () => {
    const { buffer, source } = make();
    const first = buffer.nextId();
    expect(first).toBeInstanceOf(Promise);
    expect(await first).toBe(1n);
    expect(buffer.nextId()).toBe(2n);
    expect(buffer.nextIdSync()).toBe(3n);
    expect(source.asked).toEqual([32]);
    expectBalance(buffer);
  });

  test("an answer of several runs is used in order, and a stride is kept", async () => {
    const { buffer, source } = make();
    source.answer = () => [
      { firstId: 100n, count: 2, stride: 256n },
      { firstId: 7n, count: 3, stride: 5n },
    ];
    expect(await buffer.nextIds(5)).toEqual([100n, 356n, 7n, 12n, 17n]);
    expectBalance(buffer);
  });

  test("the next answer is asked for once a quarter is left, and once only", async () => {
    const { buffer, source } = make();
    await buffer.nextId();
    for (let count = 1; count < 24; count++) buffer.nextIdSync();
    expect(source.asked).toHaveLength(1);
    buffer.nextIdSync();
    expect(source.asked).toHaveLength(2);
    for (let count = 25; count < 32; count++) buffer.nextIdSync();
    expect(source.asked).toHaveLength(2);
  });

  test("the mark lies where it should when the answer is cut into runs", async () => {
    for (const runCountMax of [1, 3, 8, 24, 31]) {
      const { buffer, source } = make();
      source.runCountMax = runCountMax;
      await buffer.nextId();
      for (let count = 1; count < 24; count++) buffer.nextIdSync();
      expect(source.asked).toHaveLength(1);
      buffer.nextIdSync();
      expect(source.asked).toHaveLength(2);
    }
  });

  test("a block that jumps over the mark asks for the next answer", async () => {
    const { buffer, source } = make();
    await buffer.nextIds(30);
    expect(source.asked).toHaveLength(2);
  });

  test("dry without a wait is STOCK_EMPTY, and asks", async () => {
    const { buffer, source, clock } = make();
    await expect(reasonOf(new Promise(() => buffer.nextIdSync()))).resolves.toBe("STOCK_EMPTY");
    await clock.advance(0);
    expect(source.asked).toEqual([32]);
    expect(buffer.nextIdSync()).toBe(1n);
  });

  test("sizes follow the rate, within their bounds", async () => {
    const { buffer, source, clock } = make({ countMax: 5_000 });
    for (let step = 0; step < 1_000; step++) {
      await buffer.nextIds(10);
      await clock.advance(10);
    }
    expect(source.asked.at(-1)).toBeGreaterThan(700);
    expect(source.asked.at(-1)).toBeLessThan(1_500);
    for (let step = 0; step < 20; step++) {
      await buffer.nextIds(20_000);
      await clock.advance(10);
    }
    expect(source.asked.at(-1)).toBe(5_000);
    for (let step = 0; step < 120; step++) {
      await buffer.nextIds(1);
      await clock.advance(1_000);
    }
    expect(source.asked.at(-1)).toBe(32);
    expectBalance(buffer);
  });

  test("at most one reservation is under way, however many wait", async () => {
    const { buffer, source, clock } = make();
    source.delayMs = 5;
    const ids = Array.from({ length: 1_000 }, async () => buffer.nextId());
    for (let step = 0; step < 200; step++) await clock.advance(5);
    const got = await Promise.all(ids);
    expect(new Set(got).size).toBe(1_000);
    expect(source.underWayMax).toBe(1);
    expectBalance(buffer);
  });

  test("counts out of range are refused without a reservation", async () => {
    const { buffer, source } = make();
    for (const count of [0, -1, 1.5, Number.NaN, 1_048_577]) {
      expect(await reasonOf(buffer.nextIds(count))).toBe("COUNT_OUT_OF_RANGE");
    }
    expect(source.asked).toEqual([]);
  });
});

describe("age", () => {
  test("no ID of a reservation is handed out once it is older than maxAge", async () => {
    const { buffer, clock } = make({ maxAgeMs: 100 });
    expect(await buffer.nextId()).toBe(1n);
    await clock.advance(99);
    expect(buffer.nextId()).toBe(2n);
    await clock.advance(1);
    expect(await buffer.nextId()).toBe(33n);
    expect(buffer.stats().dropped).toBe(30);
    expectBalance(buffer);
  });

  test("age counts from when the source was asked", async () => {
    const { buffer, source, clock } = make({ maxAgeMs: 100 });
    source.delayMs = 60;
    const first = buffer.nextId();
    await clock.advance(60);
    expect(await first).toBe(1n);
    await clock.advance(39);
    expect(buffer.nextIdSync()).toBe(2n);
    await clock.advance(1);
    expect(() => buffer.nextIdSync()).toThrow("dry");
  });

  test("an answer that comes too late is dropped whole", async () => {
    const { buffer, source, clock } = make({ maxAgeMs: 100, timeoutMs: 1_000 });
    source.delayMs = 100;
    const reason = reasonOf(buffer.nextId());
    await clock.advance(1_000);
    expect(await reason).toBe("DEADLINE_EXCEEDED");
    expect(buffer.stats()).toMatchObject({ handedOut: 0, reserved: 0, refills: 0 });
  });

  test("a buffer that nobody uses goes to sleep, and wakes", async () => {
    const { buffer, source, clock } = make({ maxAgeMs: 100 });
    await buffer.nextId();
    await clock.advance(10_000);
    expect(source.asked).toHaveLength(2);
    expect(await buffer.nextId()).toBe(65n);
  });

  test("closing a run again and again repeats nothing", async () => {
    const { buffer, clock } = make({ maxAgeMs: 10 });
    const ids = new Set<bigint>();
    for (let round = 0; round < 50; round++) {
      ids.add(await buffer.nextId());
      await clock.advance(10);
    }
    buffer.close();
    buffer.close();
    expect(ids.size).toBe(50);
    expectBalance(buffer);
  });
});

describe("waiting", () => {
  test("a caller that cancels gets no ID, and costs none", async () => {
    const { buffer, source, clock } = make();
    source.delayMs = 10;
    const abort = new AbortController();
    const cancelled = reasonOf(buffer.nextId({ signal: abort.signal }));
    const other = buffer.nextId();
    abort.abort();
    expect(await cancelled).toBe("CANCELLED");
    await clock.advance(10);
    expect(await other).toBe(1n);
    expect(source.asked).toEqual([32]);
    expect(await reasonOf(buffer.nextId({ signal: abort.signal }))).toBe("none");
  });

  test("a signal that is aborted already ends the call when the buffer is dry", async () => {
    const { buffer } = make();
    expect(await reasonOf(buffer.nextId({ signal: AbortSignal.abort() }))).toBe("CANCELLED");
  });

  test("a caller waits until its own deadline and then gets the last failure", async () => {
    const { buffer, source, clock } = make();
    source.answer = () => {
      throw unavailable();
    };
    const reason = reasonOf(buffer.nextId({ timeoutMs: 700 }));
    await clock.advance(699);
    expect(buffer.stats().refillFailures).toBeGreaterThan(2);
    source.delayMs = 1_000;
    await clock.advance(1);
    expect(await reason).toBe("STORE_UNAVAILABLE");
  });

  test("without a failure it is DEADLINE_EXCEEDED", async () => {
    const { buffer, source, clock } = make();
    source.delayMs = 1_000;
    const reason = reasonOf(buffer.nextId({ timeoutMs: 700 }));
    await clock.advance(700);
    expect(await reason).toBe("DEADLINE_EXCEEDED");
  });

  test("an error that waiting cannot help is reported at once", async () => {
    for (const code of ["UNAUTHENTICATED", "PERMISSION_DENIED", "FAILED_PRECONDITION", "UNIMPLEMENTED"] as const) {
      const { buffer, source } = make();
      source.answer = () => {
        throw new SnowlaneError("METHOD_DENIED", "no", { code });
      };
      expect(await reasonOf(buffer.nextId())).toBe("METHOD_DENIED");
    }
  });

  test("closing tells all who wait, and drops the stock", async () => {
    const { buffer, source } = make();
    await buffer.nextId();
    source.delayMs = 10;
    await buffer.nextIds(31);
    const reason = reasonOf(buffer.nextId());
    buffer.close();
    expect(await reason).toBe("CLIENT_CLOSED");
    expect(await reasonOf(buffer.nextId())).toBe("CLIENT_CLOSED");
    expect(() => buffer.nextIdSync()).toThrow("closed");
    expectBalance(buffer);
  });
});

describe("failures", () => {
  test("stock is handed out while reservations fail, and back-off keeps them few", async () => {
    const { buffer, source, clock } = make();
    await buffer.nextId();
    source.answer = () => {
      throw unavailable();
    };
    for (let count = 1; count < 30; count++) buffer.nextIdSync();
    await clock.advance(1_000);
    expect(source.asked.length).toBeLessThan(8);
    expect(source.asked.length).toBeGreaterThan(2);
    expect(buffer.nextIdSync()).toBe(31n);
    source.answer = undefined;
    await clock.advance(2_000);
    expect(buffer.stats().stock).toBeGreaterThan(1);
  });

  test("RetryInfo is waited for", async () => {
    const { buffer, source, clock } = make({ random: () => 0 });
    source.answer = () => {
      throw unavailable(400);
    };
    const id = buffer.nextId();
    await clock.advance(399);
    expect(source.asked).toHaveLength(1);
    source.answer = undefined;
    await clock.advance(1);
    expect(await id).toBe(1n);
  });

  test("an answer that cannot be is refused whole", async () => {
    const bad = [
      [],
      [{ firstId: 1n, count: 0, stride: 1n }],
      [{ firstId: 1n, count: 1, stride: 0n }],
      [{ firstId: 2n ** 63n, count: 1, stride: 1n }],
      [{ firstId: 2n ** 63n - 2n, count: 3, stride: 1n }],
      [{ firstId: 1n, count: 33, stride: 1n }],
      [
        { firstId: 1n, count: 30, stride: 1n },
        { firstId: 100n, count: 3, stride: 1n },
      ],
      [
        { firstId: 1n, count: 30, stride: 1n },
        { firstId: 100n, count: 2, stride: 2n ** 63n - 100n },
      ],
      [
        { firstId: 1n, count: 2, stride: 1n },
        { firstId: 2n, count: 2, stride: 1n },
      ],
      [
        { firstId: 50n, count: 2, stride: 1n },
        { firstId: 5n, count: 16, stride: 3n },
      ],
    ];
    for (const runs of bad) {
      const { buffer, source, clock } = make();
      source.answer = () => runs;
      const reason = reasonOf(buffer.nextId({ timeoutMs: 10 }));
      await clock.advance(10);
      expect(await reason).toBe("INVALID_RESPONSE");
      expect(buffer.stats().reserved).toBe(0);
    }
  });

  test("the highest ID that there is comes out", async () => {
    const { buffer, source } = make();
    source.answer = () => [{ firstId: 2n ** 63n - 1n, count: 1, stride: 1n }];
    expect(await buffer.nextId()).toBe(2n ** 63n - 1n);
  });
});

test("the observer hears what happens, and cannot break it", async () => {
  const observer = { onRefill: vi.fn(), onWait: vi.fn(), onExpire: vi.fn(), onAttempt: vi.fn() };
  observer.onRefill.mockImplementation(() => {
    throw new Error("broken");
  });
  const { buffer, clock } = make({ observer, maxAgeMs: 100 });
  expect(await buffer.nextId()).toBe(1n);
  await clock.advance(100);
  expect(observer.onRefill).toHaveBeenCalledWith(expect.objectContaining({ asked: 32, received: 32 }));
  expect(observer.onWait).toHaveBeenCalledWith({ durationMs: 0 });
  expect(observer.onExpire).toHaveBeenCalledWith({ dropped: 31 });
});

test("a copy of a buffer hands out nothing", async () => {
  const { buffer } = make();
  await buffer.nextId();
  expect(structuredClone(buffer)).toEqual({});
});

test("options out of range are refused", () => {
  const source = new FakeSource(systemClock);
  const bad = [
    { maxAgeMs: 9 },
    { maxAgeMs: 60_001 },
    { countMin: 0 },
    { countMax: 1_048_577 },
    { countMin: 9, countMax: 8 },
  ];
  for (const options of bad) expect(() => new PrefetchBuffer(source, options)).toThrow(RangeError);
});

test("a source that answers nonsense is a failed reservation, and no end of the process", async () => {
  for (const answer of [undefined, null, {}, [{}], [{ firstId: 1, count: 1, stride: 1 }]]) {
    const { buffer, source } = make();
    source.reserve = async () => answer as never;
    expect(() => buffer.nextIdSync()).toThrow("dry");
    await vi.waitFor(() => expect(buffer.stats().refillFailures).toBe(1), { timeout: 30_000 });
    expect(buffer.stats().reserved).toBe(0);
    buffer.close();
  }
});

test("a time to wait that is not a number is refused; one that has passed waits for nobody", async () => {
  const buffer = new PrefetchBuffer(new FakeSource(new FakeClock()));
  await expect(buffer.nextId({ timeoutMs: NaN })).rejects.toThrow(RangeError);
  await expect(buffer.nextIds(3, { timeoutMs: NaN })).rejects.toThrow(RangeError);
  const dry = new PrefetchBuffer({ reserve: () => new Promise(() => {}) });
  for (const timeoutMs of [-Infinity, -1, 0]) {
    expect(await reasonOf(dry.nextId({ timeoutMs }))).toBe("DEADLINE_EXCEEDED");
    expect(await reasonOf(dry.nextIds(3, { timeoutMs }))).toBe("DEADLINE_EXCEEDED");
  }
  dry.close();
  buffer.close();
});

describe("in real time", () => {
  test.each([64, 1_000])(
    "%i callers, runs that expire every 2 ms, callers that cancel: no ID twice",
    async (callers) => {
      const clock = new HastyClock();
      const source = new FakeSource(clock);
      source.delayMs = 0.2;
      source.runCountMax = 4_096;
      const buffer = new PrefetchBuffer(source, { maxAgeMs: 10, countMax: 1_048_576, clock, random: () => 0 });
      // The shortest maxAge that is allowed is 10 ms; answers that took 8 ms are 2 ms from their end.
      const reserve = source.reserve.bind(source);
      source.reserve = async (count, options) => {
        clock.aheadMs += 8;
        return reserve(count, options);
      };
      const ids: bigint[] = [];
      let cancelled = 0;
      const perCaller = 640_000 / callers;
      await Promise.all(
        Array.from({ length: callers }, async (_, caller) => {
          for (let count = 0; count < perCaller; count++) {
            const signal = caller % 8 === 0 && count % 16 === 0 ? AbortSignal.timeout(1) : undefined;
            try {
              const id = buffer.nextId(signal === undefined ? undefined : { signal });
              ids.push(typeof id === "bigint" ? id : await id);
            } catch (error) {
              // On a busy machine answers can come too late for as long as a caller waits.
              if (!["CANCELLED", "DEADLINE_EXCEEDED"].includes((error as SnowlaneError).reason)) throw error;
              cancelled++;
            }
            if (count % 64 === 63) await new Promise((resolve) => setImmediate(resolve));
          }
        }),
      );
      const stats = buffer.stats();
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids.length + cancelled).toBe(perCaller * callers);
      expect(stats.handedOut).toBe(ids.length);
      expect(stats.dropped + stats.refillFailures).toBeGreaterThan(0);
      expectBalance(buffer);
      buffer.close();
    },
  );
});
