import { describe, expect, test } from "vitest";
import { FaultyStore } from "../../test/support/worlds/faulty-store.ts";
import { smallLayout } from "../../test/support/worlds/holder-world.ts";
import { ManualTime } from "../../test/support/worlds/manual-time.ts";
import { MemoryDatabase } from "../../test/support/worlds/memory-store.ts";
import { SnowflakeGenerator } from "../snowflake/generator.ts";
import type { Layout } from "../snowflake/layout.ts";
import { createLayout } from "../snowflake/layout.ts";
import { type RollbackPolicy, rollbackPolicies } from "../snowflake/rollback-policy.ts";
import { waitersMax } from "../queue/wait-queue.ts";
import type { ReservedIds, ServingState } from "./id-source.ts";
import { createHolder } from "../lease/records/worker-record.ts";
import { resolveWorkerSettings, type WorkerOptions } from "../lease/worker-settings.ts";
import { WorkerSource } from "./worker-source.ts";

const waitMaxMs = 1_000;

interface World {
  readonly time: ManualTime;
  readonly store: FaultyStore;
  readonly source: WorkerSource;
}

function createWorld(
  setup: { options?: Partial<WorkerOptions>; policy?: RollbackPolicy; layout?: Layout; hasClock?: boolean } = {},
): World & { skew: { ms: number } } {
  const time = new ManualTime();
  const skew = { ms: 0 };
  const layout = setup.layout ?? smallLayout;
  const database = new MemoryDatabase(setup.hasClock ? { clockMs: () => time.nowMs() } : {});
  const store = new FaultyStore(database.open());
  const who = { instance: "a:1", host: "a", processId: 1, bootId: "", sinceMs: 0, version: "" };
  const settings = resolveWorkerSettings(
    { namespace: "default", holder: createHolder(who), ...setup.options },
    layout,
    store,
  );
  let drawn = 0;
  const source = new WorkerSource({
    store,
    settings,
    waitMaxMs,
    generator: new SnowflakeGenerator({ layout, policy: setup.policy, sequenceSpread: false, random: () => 0 }),
    ports: {
      clock: { nowMs: () => time.nowMs() + skew.ms, monotonicMs: () => time.monotonicMs() },
      timers: time,
      uptimeMs: () => time.uptimeMs(),
      random128: () => (drawn += 1).toString(16).padStart(32, "0"),
      random: () => 0.5,
      report: () => {},
    },
  });
  return { time, store, source, skew };
}

async function serving(
  setup: Parameters<typeof createWorld>[0] & { readonly stepMs?: number } = {},
): Promise<ReturnType<typeof createWorld>> {
  const world = createWorld(setup);
  world.time.stepWall(setup.stepMs ?? 0);
  const started = world.source.start();
  await world.time.run(0);
  await started;
  return world;
}

/** Pinned, with one worker: there is none to move to. */
const pinned = { datacenterId: 0, workerId: 0 };
/** 16 IDs a millisecond, 160 in a burst. */
const narrow = createLayout({
  ...smallLayout,
  fields: smallLayout.fields.with(3, { kind: "sequence", bits: 4 }),
});

describe("an ID source", () => {
  test("draws without a promise while IDs can be had", async () => {
    const { source } = await serving();
    expect(source.tryNext()).toBeTypeOf("bigint");
    const reserved = source.reserve({ count: 10, priority: "unary" });
    expect(reserved).toMatchObject({ count: 10, risingSpan: source.risingSpan });
    expect(source.status().counters.issued).toBe(11);
  });

  test("gives a bulk caller at most half of the burst", async () => {
    const { source } = await serving({ layout: narrow });
    expect((source.reserve({ count: 1_000, priority: "bulk" }) as ReservedIds).count).toBe(80);
  });

  test("refuses a count out of range at once", async () => {
    const { source } = await serving();
    for (const count of [0, -1, 1.5, Number.NaN, source.reserveCountMax + 1]) {
      expect(() => source.reserve({ count, priority: "unary" })).toThrow(
        expect.objectContaining({ reason: "COUNT_OUT_OF_RANGE" }),
      );
    }
  });

  test("makes callers wait when the burst is used up, and serves them when time allows", async () => {
    const { source, time } = await serving({ layout: narrow });
    while (source.tryNext() !== undefined);
    const wait = source.reserve({ count: 1, priority: "unary" });
    expect(wait).toBeInstanceOf(Promise);
    await time.run(1);
    await expect(wait).resolves.toMatchObject({ count: 1 });
    expect(source.status().counters.waited).toBe(1);
  });

  test("lets nobody overtake a unary call that waits", async () => {
    const { source, time } = await serving({ layout: narrow });
    while (source.tryNext() !== undefined);
    const waits = Array.from(
      { length: 17 },
      () => source.reserve({ count: 1, priority: "unary" }) as Promise<ReservedIds>,
    );
    await time.run(1);
    // 16 callers got the IDs of a tick; one still waits, so no other caller may draw.
    expect(source.status().waiting).toBe(1);
    expect(source.tryNext()).toBeUndefined();
    await time.run(1);
    const ids = (await Promise.all(waits)).map(({ runs }) => runs[0]!.firstId);
    expect(ids).toEqual(ids.toSorted((one, other) => (one < other ? -1 : 1)));
  });

  test("refuses a caller at the earliest of deadline and waitMax, with when to come again", async () => {
    const { source, time, store } = await serving();
    store.fault = () => "lost";
    await time.run(10_500);
    const early = source.reserve({
      count: 1,
      priority: "unary",
      deadlineMs: time.monotonicMs() + 30,
    }) as Promise<unknown>;
    const late = source.reserve({ count: 1, priority: "unary" }) as Promise<unknown>;
    const outcomes: string[] = [];
    early.catch(() => outcomes.push("early"));
    late.catch(() => outcomes.push("late"));
    await time.run(30);
    expect(outcomes).toEqual(["early"]);
    await time.run(waitMaxMs);
    await expect(late).rejects.toMatchObject({ reason: "STORE_UNAVAILABLE", retryAfterMs: expect.any(Number) });
  });

  test("refuses at once when what is wrong has lasted longer than anyone may wait", async () => {
    const { source, time, store } = await serving();
    store.fault = () => "lost";
    await time.run(15_000);
    const refused = source.reserve({ count: 1, priority: "unary" }) as Promise<unknown>;
    await expect(refused).rejects.toMatchObject({ reason: "STORE_UNAVAILABLE" });
    store.fault = () => "none";
    await time.run(1_500);
    expect(source.tryNext()).toBeTypeOf("bigint");
  });

  test("refuses at once when too many wait", async () => {
    const { source } = await serving({ layout: narrow });
    while (source.tryNext() !== undefined);
    for (let waiting = 0; waiting < waitersMax; waiting += 1) {
      (source.reserve({ count: 1, priority: "unary" }) as Promise<unknown>).catch(() => {});
    }
    await expect(source.reserve({ count: 1, priority: "unary" })).rejects.toMatchObject({
      reason: "BURST_EXCEEDED",
      retryAfterMs: expect.any(Number),
    });
    await source.close(0);
  });

  test("does not wait for a caller that has given up already", async () => {
    const { source } = await serving({ layout: narrow });
    while (source.tryNext() !== undefined);
    const signal = AbortSignal.abort(new Error("gone"));
    await expect(source.reserve({ count: 1, priority: "unary", signal })).rejects.toThrow("gone");
    expect(source.status().waiting).toBe(0);
  });

  test("serves waiting callers from the next worker ID when the clock went back far", async () => {
    const { source, time, skew } = await serving();
    source.tryNext();
    skew.ms = -3_600_000;
    const wait = source.reserve({ count: 1, priority: "unary" });
    expect(wait).toBeInstanceOf(Promise);
    await time.run(10);
    await expect(wait).resolves.toMatchObject({ count: 1 });
    expect(source.status().counters).toMatchObject({ rebased: 1, clockStepsBack: 1 });
  });

  test.each(rollbackPolicies)(
    "under %s issues nothing from a window that is over, on waking before the heartbeat",
    async (policy) => {
      const { source, time } = await serving({ policy });
      expect(source.tryNext()).toBeTypeOf("bigint");
      time.stall(3_600_000);
      expect(source.tryNext()).toBeUndefined();
      const wait = source.reserve({ count: 1, priority: "unary" });
      expect(wait).toBeInstanceOf(Promise);
      await time.run(0);
      await expect(wait).resolves.toMatchObject({ count: 1 });
      expect(source.status().grant!.sinceMs).toBe(time.nowMs());
    },
  );

  test("issues nothing from a window that ended within a tick", async () => {
    // It starts in the middle of a tick.
    const { source, time } = await serving({ layout: createLayout({ ...smallLayout, tickNs: 1e9 }), stepMs: 500 });
    const { windowLeftMs } = source.status().grant!;
    time.stall(windowLeftMs - 1);
    expect(source.tryNext()).toBeTypeOf("bigint");
    time.stall(1);
    expect(source.tryNext()).toBeUndefined();
    const wait = source.reserve({ count: 1, priority: "unary" });
    expect(wait).toBeInstanceOf(Promise);
    await time.run(1_000);
    await expect(wait).resolves.toMatchObject({ count: 1 });
  });

  test("ends a stream whose order ends: after a rebase, a new grant, and a step back under reuse", async () => {
    const { source, time, skew } = await serving();
    const { risingSpan } = source.reserve({ count: 1, priority: "bulk" }) as ReservedIds;
    expect((source.reserve({ count: 1, priority: "bulk", risingSpan }) as ReservedIds).risingSpan).toBe(risingSpan);
    skew.ms = -3_600_000;
    const waiting = source.reserve({ count: 1, priority: "bulk", risingSpan }) as Promise<unknown>;
    const expectation = expect(waiting).rejects.toMatchObject({ reason: "CLOCK_ROLLED_BACK" });
    await time.run(10);
    await expectation;
    expect(() => source.reserve({ count: 1, priority: "bulk", risingSpan })).toThrow(
      expect.objectContaining({ reason: "CLOCK_ROLLED_BACK" }),
    );

    const reusing = await serving({ policy: "reuse" });
    const first = reusing.source.reserve({ count: 1, priority: "bulk" }) as ReservedIds;
    await reusing.time.run(1_000);
    await reusing.source.reserve({ count: 1, priority: "bulk", risingSpan: first.risingSpan });
    reusing.skew.ms = -500;
    expect(() => reusing.source.reserve({ count: 1, priority: "bulk", risingSpan: first.risingSpan })).toThrow(
      expect.objectContaining({ reason: "CLOCK_ROLLED_BACK" }),
    );
  });

  test("says NOT_SERVING while the clock is behind with no worker ID to move to, and serves again by itself", async () => {
    const { source, time, skew } = await serving({ options: pinned });
    const states: ServingState["kind"][] = [];
    source.onStateChange(({ kind }) => states.push(kind));
    source.tryNext();
    skew.ms = -10_000;
    await time.run(1_000);
    expect(source.state).toMatchObject({ kind: "not-serving", error: { reason: "CLOCK_ROLLED_BACK" } });
    await time.run(8_000);
    expect(source.state.kind).toBe("serving");
    expect(source.tryNext()).toBeTypeOf("bigint");
    expect(states).toEqual(["not-serving", "serving"]);
  });

  test("says NOT_SERVING when the store's clock has contradicted ours for a minute", async () => {
    const { source, time, skew } = await serving({ hasClock: true });
    skew.ms = 3_600_000;
    await time.run(59_000);
    expect(source.state.kind).toBe("serving");
    expect(source.tryNext()).toBeTypeOf("bigint");
    await time.run(2_500);
    expect(source.state.kind).toBe("not-serving");
    expect(source.tryNext()).toBeUndefined();
    skew.ms = 0;
    await time.run(1_000);
    expect(source.tryNext()).toBeTypeOf("bigint");
  });

  test("tells each listener of each change once, and none that stopped", async () => {
    const { source, time, store } = await serving();
    const heard: string[] = [];
    const stop = source.onStateChange((state) => heard.push(state.kind === "serving" ? "serving" : state.error.reason));
    store.fault = () => "lost";
    await time.run(20_000);
    store.fault = () => "none";
    await time.run(2_000);
    expect(heard).toEqual(["WORKER_LEASE_LOST", "STORE_UNAVAILABLE", "serving"]);
    stop();
    await source.close(0);
    expect(heard).toHaveLength(3);
  });

  test("closed, gives nothing more, not even to those who wait", async () => {
    const { source } = await serving({ layout: narrow });
    while (source.tryNext() !== undefined);
    const wait = source.reserve({ count: 1, priority: "unary" }) as Promise<unknown>;
    const expectation = expect(wait).rejects.toMatchObject({ reason: "SHUTTING_DOWN" });
    await source.close(1_000);
    await expectation;
    expect(source.tryNext()).toBeUndefined();
    expect(() => source.reserve({ count: 1, priority: "unary" })).toThrow(
      expect.objectContaining({ reason: "SHUTTING_DOWN" }),
    );
    expect(source.state).toMatchObject({ kind: "not-serving", error: { reason: "SHUTTING_DOWN" } });
  });

  test("refuses permanently where waiting cannot help", async () => {
    const { source, time } = await serving({
      layout: createLayout({
        ...smallLayout,
        epochMs: Date.UTC(2026, 11, 31),
        fields: smallLayout.fields.with(0, { kind: "timestamp", bits: 27 }),
      }),
    });
    expect(source.tryNext()).toBeTypeOf("bigint");
    time.stepWall(0);
    await time.run(86_400_000);
    expect(() => source.reserve({ count: 1, priority: "unary" })).toThrow(
      expect.objectContaining({ reason: "TIMESTAMP_EXHAUSTED", retryAfterMs: undefined }),
    );
  });

  test("names no host, path or holder in what callers get", async () => {
    const { source, time, store } = await serving();
    store.fault = () => "lost";
    await time.run(12_000);
    const { error } = source.state as Extract<ServingState, { kind: "not-serving" }>;
    expect(`${error.message} ${JSON.stringify(error.metadata)}`).not.toMatch(/a:1|compareAndSet|no answer/);
    expect(error.cause).toMatchObject({ reason: "STORE_UNAVAILABLE" });
  });
});
