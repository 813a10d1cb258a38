import { expect, test } from "vitest";
import { HolderWorld } from "../../test/support/worlds/holder-world.ts";

test("a holder that was told to close issues nothing from then on, though a renewal is still under way", async () => {
  const world = new HolderWorld();
  const process = world.process();
  await process.start();
  process.store.fault = ({ kind }) => (kind === "compareAndSet" ? "held" : "none");
  await world.time.run(2_500);
  expect(process.issue()).toBe(1);
  const closed = process.holder.close(5_000);
  expect(process.holder.grant).toBeDefined();
  expect(process.holder.phase).toEqual({ kind: "releasing" });
  expect(() => process.issue()).toThrow("This process holds no worker ID");
  await world.time.run(6_000);
  await closed;
  expect(process.holder.phase).toEqual({ kind: "released" });
});

test("a holder that has closed looks at no clock any more, and a second call leaves it as it is", async () => {
  const world = new HolderWorld();
  const process = world.process();
  await process.start();
  await process.close();
  expect(process.pendingTimers.size).toBe(0);
  const said = process.kinds();
  world.time.stepWall(-5_000);
  await world.time.run(2_000);
  expect(process.kinds()).toEqual(said);
  const again = process.holder.close(5_000);
  expect(process.holder.phase).toEqual({ kind: "released" });
  await again;
  expect(process.kinds()).toEqual(said);
});

test("a holder that is closed before its first grant ends at once, and its start is refused", async () => {
  const world = new HolderWorld();
  const process = world.process();
  process.store.fault = () => "lost";
  const started = process.holder.start();
  const refused = expect(started).rejects.toMatchObject({ reason: "SHUTTING_DOWN" });
  await world.time.run(3_000);
  await process.close();
  await refused;
  expect(process.holder.phase).toEqual({ kind: "released" });
});

test("a holder that closes is done when the store has confirmed the release, and says that its grant is over", async () => {
  const world = new HolderWorld();
  const process = world.process();
  await process.start();
  const { workerIndex } = process.holder.grant!;
  process.store.fault = ({ kind }) => (kind === "compareAndSet" ? "held" : "none");
  let isClosed = false;
  const closed = process.holder.close(5_000).then(() => {
    isClosed = true;
  });
  await world.time.run(1_000);
  expect(isClosed).toBe(false);
  expect(process.events.at(-1)).toMatchObject({ kind: "grant-ended", end: "released", detail: "closed" });
  expect(process.holder.grant).toBeUndefined();
  process.store.fault = () => "none";
  process.store.resume();
  await world.time.run(0);
  await closed;
  expect(world.record(workerIndex)?.token).toBe("");
});

test("a holder that closes while a renewal is under way waits for its answer, and for no timer after it", async () => {
  const world = new HolderWorld();
  const process = world.process();
  await process.start();
  process.store.fault = ({ kind }) => (kind === "compareAndSet" ? "held" : "none");
  await world.time.run(2_500);
  const closed = process.holder.close(5_000);
  process.store.fault = () => "none";
  process.store.resume();
  await world.time.run(0);
  await closed;
  expect(process.events.at(-1)).toMatchObject({ kind: "grant-ended", end: "released" });
});

test("a holder that is granted a worker ID while it closes gives it back, and never says that it holds one", async () => {
  const world = new HolderWorld();
  const process = world.process();
  process.store.fault = ({ kind, key }) => (kind === "compareAndSet" && key?.startsWith("worker-") ? "held" : "none");
  process.holder.start().catch(() => {});
  await world.time.run(100);
  const closed = process.holder.close(5_000);
  const phases: string[] = [];
  process.store.onWritten = () => phases.push(process.holder.phase.kind);
  process.store.fault = () => "none";
  process.store.resume();
  await world.time.run(0);
  await closed;
  expect(process.kinds().slice(-2)).toEqual(["acquired", "grant-ended"]);
  expect(new Set(phases)).toEqual(new Set(["releasing"]));
});
