import { expect, test } from "vitest";
import { ManualTime } from "../../test/support/worlds/manual-time.ts";
import type { IdError } from "../errors.ts";
import type { LayoutField } from "../snowflake/layout.ts";
import { parseId } from "../snowflake/parse.ts";
import { Snowflake, type SnowflakeOptions } from "./snowflake.ts";

/** Each test has worker IDs of its own, because a process may use each only once. */
let workerIdNext = 0;
const freshWorkerId = (): number => workerIdNext++;

/** A Snowflake on a clock that only its own naps move, so that each wait shows as time. */
function snowflakeOn(time: ManualTime, options: Partial<SnowflakeOptions> = {}): Snowflake {
  const nap = (lengthMs: number): void => time.stall(lengthMs);
  return new Snowflake({ workerId: freshWorkerId(), ...options }, { clock: time, nap });
}

function errorOf(task: () => unknown): IdError {
  try {
    task();
  } catch (error) {
    return error as IdError;
  }
  throw new Error("It threw nothing.");
}

test("on the real clock IDs rise, are unique, and none is ahead of the clock", () => {
  const workerId = freshWorkerId();
  const ids = new Snowflake({ workerId, datacenterId: 3 });
  let last = 0n;
  for (let index = 0; index < 20_000; index++) {
    const id = ids.next();
    if (id <= last) expect(id).toBeGreaterThan(last);
    last = id;
    const { createTimeMs } = parseId(ids.layout, id);
    if (createTimeMs > Date.now()) expect(createTimeMs).toBeLessThanOrEqual(Date.now());
  }
  expect(parseId(ids.layout, last)).toMatchObject({ datacenterId: 3, workerId });
});

const tick = (tickNs: number, fields: readonly LayoutField[]) => ({ name: "custom", epochMs: 0, tickNs, fields });
const layoutsOfTicks = [
  ["1 us", tick(1_000, [...fieldsOf(53), { kind: "sequence", bits: 2 }])],
  ["1 ms", tick(1_000_000, [...fieldsOf(43), { kind: "sequence", bits: 5 }])],
  ["10 ms", tick(10_000_000, [...fieldsOf(40), { kind: "sequence", bits: 5 }])],
  ["1 s", tick(1_000_000_000, [...fieldsOf(34), { kind: "sequence", bits: 5 }])],
] as const;

function fieldsOf(timestampBits: number): LayoutField[] {
  return [
    { kind: "timestamp", bits: timestampBits },
    { kind: "worker", bits: 8 },
  ];
}

test.each(layoutsOfTicks)(
  "with ticks of %s a used-up tick makes the caller wait, and no ID leads the clock",
  (_, layout) => {
    const time = new ManualTime();
    const ids = snowflakeOn(time, { layout });
    const wrong: bigint[] = [];
    let last = -1n;
    for (let index = 0; index < 10_000; index++) {
      const id = ids.next();
      if (id <= last || parseId(ids.layout, id).createTimeMs > time.nowMs()) wrong.push(id);
      last = id;
    }
    expect(wrong).toEqual([]);
  },
);

test("the first ID is of a later tick than the making, which another process may have used", () => {
  const time = new ManualTime();
  const madeMs = time.nowMs();
  const ids = snowflakeOn(time);
  expect(time.nowMs()).toBe(madeMs + 1);
  expect(parseId(ids.layout, ids.next()).createTimeMs).toBe(madeMs + 1);
});

test("a clock that went back by up to rollbackMaxMs is waited for, and IDs go on rising", () => {
  const time = new ManualTime();
  const ids = snowflakeOn(time);
  const before = ids.next();
  const shownMs = time.nowMs();
  time.stepWall(-10);
  expect(ids.next()).toBeGreaterThan(before);
  expect(time.nowMs()).toBeGreaterThanOrEqual(shownMs);
});

test("a clock that went back further is CLOCK_ROLLED_BACK at once, and IDs rise when it has caught up", () => {
  const time = new ManualTime();
  const ids = snowflakeOn(time);
  const before = ids.next();
  time.stepWall(-11);
  const steppedMs = time.nowMs();
  const error = errorOf(() => ids.next());
  expect(error).toMatchObject({ name: "IdError", reason: "CLOCK_ROLLED_BACK", retryAfterMs: 11 });
  expect(error.metadata).toMatchObject({ behind_ms: "11", rollback_max_ms: "10" });
  expect(time.nowMs()).toBe(steppedMs);
  time.stepWall(11);
  expect(ids.next()).toBeGreaterThan(before);
});

test("rollbackMaxMs 0 waits for no rollback; 5,000 waits for one of 5 s", () => {
  const time = new ManualTime();
  const impatient = snowflakeOn(time, { rollbackMaxMs: 0 });
  const patient = snowflakeOn(time, { rollbackMaxMs: 5_000 });
  impatient.next();
  const before = patient.next();
  time.stepWall(-1);
  expect(errorOf(() => impatient.next()).reason).toBe("CLOCK_ROLLED_BACK");
  time.stepWall(-4_999);
  expect(patient.next()).toBeGreaterThan(before);
});

test("a clock that stops ends the wait with an error", () => {
  const time = new ManualTime();
  const nap = (lengthMs: number): void => {
    time.stall(lengthMs);
    time.stepWall(-lengthMs);
  };
  expect(errorOf(() => new Snowflake({ workerId: freshWorkerId() }, { clock: time, nap }))).toMatchObject({
    reason: "CLOCK_ROLLED_BACK",
    message: expect.stringContaining("stands still"),
  });
});

test("the same layout and worker ID twice in a process is refused; another worker, datacenter or layout is not", () => {
  const time = new ManualTime();
  const workerId = freshWorkerId();
  snowflakeOn(time, { workerId });
  expect(errorOf(() => snowflakeOn(time, { workerId }))).toMatchObject({ name: "IdError", reason: "INVALID_CONFIG" });
  expect(errorOf(() => snowflakeOn(time, { workerId, datacenterId: 0, layout: "twitter" })).reason).toBe(
    "INVALID_CONFIG",
  );
  snowflakeOn(time, { workerId, datacenterId: 1 });
  snowflakeOn(time, { workerId, layout: "discord" });
});

test("a worker ID is free again when the making failed", () => {
  const time = new ManualTime();
  const workerId = freshWorkerId();
  expect(errorOf(() => snowflakeOn(new ManualTime(0), { workerId })).reason).toBe("CLOCK_BEFORE_EPOCH");
  expect(snowflakeOn(time, { workerId }).next()).toBeGreaterThan(0n);
});

test("a layout whose life is over is refused when it is made, and one that ends later throws TIMESTAMP_EXHAUSTED", () => {
  const time = new ManualTime();
  expect(errorOf(() => snowflakeOn(time, { layout: "baidu" })).reason).toBe("TIMESTAMP_EXHAUSTED");
  const epochMs = time.nowMs() - 1_020;
  const fields = [...fieldsOf(10), { kind: "sequence", bits: 2 } as const];
  const ids = snowflakeOn(time, { layout: { name: "custom", epochMs, tickNs: 1_000_000, fields } });
  const end = errorOf(() => {
    for (;;) ids.next();
  });
  expect(end.reason).toBe("TIMESTAMP_EXHAUSTED");
});

const mistakes: readonly (readonly [string, unknown, string])[] = [
  ["no options", undefined, "INVALID_CONFIG"],
  ["no worker ID", {}, "INVALID_CONFIG"],
  ["a worker ID above the layout's", { workerId: 32 }, "INVALID_CONFIG"],
  ["a negative worker ID", { workerId: -1 }, "INVALID_CONFIG"],
  ["a worker ID with a fraction", { workerId: 0.5 }, "INVALID_CONFIG"],
  ["a worker ID as text", { workerId: "1" }, "INVALID_CONFIG"],
  ["a worker ID that is not a number", { workerId: Number.NaN }, "INVALID_CONFIG"],
  ["a datacenter ID above the layout's", { workerId: 1, datacenterId: 32 }, "INVALID_CONFIG"],
  ["a negative rollbackMaxMs", { workerId: 1, rollbackMaxMs: -1 }, "INVALID_CONFIG"],
  ["a rollbackMaxMs above a minute", { workerId: 1, rollbackMaxMs: 60_001 }, "INVALID_CONFIG"],
  ["an unknown option", { workerId: 1, machineId: 1 }, "INVALID_CONFIG"],
  ["an unknown preset", { workerId: 1, layout: "tweeter" }, "INVALID_LAYOUT"],
  ["a number as layout", { workerId: 1, layout: 5 }, "INVALID_LAYOUT"],
  ["an object that is not a layout", { workerId: 1, layout: {} }, "INVALID_LAYOUT"],
  ["a tick of an hour", { workerId: 0, layout: tick(3_600_000_000_000, fieldsOf(40)) }, "INVALID_CONFIG"],
];

test.each(mistakes)("%s is an IdError", (_, options, reason) => {
  const error = errorOf(() => new Snowflake(options as SnowflakeOptions));
  expect(error).toMatchObject({ name: "IdError", reason });
});

test("an error names every wrong option", () => {
  const options = { workerId: -1, rollbackMaxMs: Number.NaN };
  const { message } = errorOf(() => new Snowflake(options));
  expect(message.split("\n")).toEqual([
    "workerId is -1. Give a whole number, 0 or more.",
    "rollbackMaxMs is NaN. Give a number of milliseconds from 0 to 60000.",
  ]);
});
