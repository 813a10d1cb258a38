import { describe, expect, test } from "vitest";
import { HolderWorld, type TestProcess } from "../../test/support/worlds/holder-world.ts";
import { encodeWorkerRecord } from "./records/worker-record.ts";

async function holding(): Promise<{ world: HolderWorld; process: TestProcess }> {
  const world = new HolderWorld();
  const process = world.process();
  await process.start();
  return { world, process };
}

describe("a release", () => {
  test("lowers the mark to what was used, empties the token, and keeps the generation", async () => {
    const { world, process } = await holding();
    await world.time.run(3_000);
    process.issue(10);
    const { workerIndex } = process.holder.grant!;
    await process.close();
    const nowMs = world.time.nowMs();
    expect(world.record(workerIndex)).toMatchObject({ generation: 1, token: "", markMs: nowMs + 1, expiresMs: 0 });
    expect(process.holder.phase.kind).toBe("released");
  });

  test("of a grant that was never used leaves the mark at its start", async () => {
    const { world, process } = await holding();
    const { workerIndex, fromMs } = process.holder.grant!;
    await process.close();
    expect(world.record(workerIndex)!.markMs).toBe(fromMs);
  });

  test("lets the next holder begin right there, and nothing repeats", async () => {
    const { world, process } = await holding();
    process.issue(10_000);
    const { workerIndex } = process.holder.grant!;
    await process.close();
    const next = world.process({ name: "b", options: { datacenterId: workerIndex >> 1, workerId: workerIndex & 1 } });
    await next.start();
    expect(next.issue(10_000)).toBe(10_000);
    expect(world.ledger.count).toBe(20_000);
  });

  test("ends issuing before anything is sent, and for good, answer or no answer", async () => {
    const { world, process } = await holding();
    process.store.fault = () => "lost";
    const closed = process.holder.close(5_000);
    expect(process.generator.untilMs).toBe(0);
    await world.time.run(6_000);
    await closed;
    process.store.fault = () => "none";
    await world.time.run(60_000);
    expect(process.holder.grant).toBeUndefined();
    expect(process.generator.untilMs).toBe(0);
  });

  test("waits no longer than it was told to", async () => {
    const { world, process } = await holding();
    process.store.fault = () => "held";
    const closed = process.holder.close(700);
    await world.time.run(699);
    expect(process.holder.phase.kind).toBe("releasing");
    await world.time.run(1);
    await closed;
    expect(process.holder.phase.kind).toBe("released");
  });

  test("starts from a renewal of ours that had landed without an answer", async () => {
    const { world, process } = await holding();
    const { workerIndex, fromMs } = process.holder.grant!;
    process.store.fault = ({ kind }) => (kind === "compareAndSet" ? "answer-lost" : "lost");
    await world.time.run(2_000);
    process.store.fault = () => "none";
    await process.close();
    await world.time.run(1_000);
    expect(world.record(workerIndex)).toMatchObject({ token: "", markMs: fromMs });
  });

  test("whose answer was lost is not written over by itself", async () => {
    const { world, process } = await holding();
    const { workerIndex } = process.holder.grant!;
    process.store.fault = ({ kind }) => (kind === "compareAndSet" ? "answer-lost" : "none");
    const closed = process.holder.close(5_000);
    await world.time.run(2_000);
    await closed;
    expect(process.store.calls.filter(({ kind }) => kind === "compareAndSet").length).toBe(4);
    expect(world.record(workerIndex)!.token).toBe("");
  });

  test("touches nothing that is not ours any more", async () => {
    const { world, process } = await holding();
    const { key, record } = process.holder.grant!;
    const taken = encodeWorkerRecord({ ...record, generation: 2, token: "f".repeat(32), writeId: "e".repeat(32) });
    world.database.write(key, world.database.entry(key), taken);
    await process.close();
    expect(world.database.entry(key)!.text).toBe(taken);
  });

  test("while a worker ID is being acquired gives back what comes of it", async () => {
    const world = new HolderWorld();
    const process = world.process();
    process.store.fault = ({ kind, key }) => (kind === "compareAndSet" && key?.startsWith("worker-") ? "held" : "none");
    const started = process.holder.start();
    started.catch(() => {});
    await world.time.run(10);
    const closed = process.holder.close(5_000);
    process.store.fault = () => "none";
    process.store.resume();
    await world.time.run(10);
    await closed;
    await expect(started).rejects.toMatchObject({ reason: "SHUTTING_DOWN" });
    const records = [...world.database.records.keys()].filter((key) => key.startsWith("worker-"));
    expect(records.map((key) => world.record(Number(key.slice(7)))!.token)).toEqual([""]);
  });
});
