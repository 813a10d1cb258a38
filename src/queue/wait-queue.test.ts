import { describe, expect, test } from "vitest";
import { ManualTime } from "../../test/support/worlds/manual-time.ts";
import { IdError } from "../errors.ts";
import { WaitQueue, type WaitRequest } from "./wait-queue.ts";

/** A request for `count` numbers. */
interface ReserveRequest extends WaitRequest {
  readonly count: number;
  readonly risingSpan?: number;
}

interface ReservedIds {
  readonly count: number;
}

type Queue = WaitQueue<ReserveRequest, ReservedIds>;

/** A queue before a source that gives what the test puts into it; the last `kept` IDs are for unary calls. */
function queued(): { queue: Queue; time: ManualTime; fill: (count: number, kept?: number) => void; got: string[] } {
  const time = new ManualTime();
  let left = 0;
  let keptCount = 0;
  const got: string[] = [];
  const queue = new WaitQueue<ReserveRequest, ReservedIds>({
    timers: time,
    nowMs: () => time.nowMs(),
    draw: ({ count, priority }) => {
      const room = priority === "bulk" ? left - keptCount : left;
      if (room <= 0) return { kind: "refused", untilMs: undefined };
      const taken = Math.min(count, room);
      left -= taken;
      return { kind: "drawn", result: { count: taken } };
    },
  });
  const fill = (count: number, kept = 0): void => {
    left = count;
    keptCount = kept;
    queue.serve();
  };
  return { queue, time, fill, got };
}

const late = (): IdError => new IdError("BURST_EXCEEDED", "late");
const unary = (): ReserveRequest => ({ count: 1, priority: "unary" });
const bulk = (count: number): ReserveRequest => ({ count, priority: "bulk" });

describe("the queue", () => {
  test("serves in turn, and gives each what is left, up to what it asked for", async () => {
    const { queue, fill, got } = queued();
    const note = (name: string, ids: Promise<ReservedIds>): Promise<unknown> =>
      ids.then(({ count }) => got.push(`${name} ${count}`));
    const all = [
      note("a", queue.wait(bulk(10), 1_000, late)),
      note("b", queue.wait(unary(), 1_000, late)),
      note("c", queue.wait(bulk(10), 1_000, late)),
    ];
    fill(15);
    await Promise.all(all);
    expect(got).toEqual(["a 10", "b 1", "c 4"]);
    expect(queue.size).toBe(0);
  });

  test("lets a unary call pass a stream that is refused the last part of a tick", async () => {
    const { queue, fill, time } = queued();
    const stream = queue.wait(bulk(10), 1_000, late);
    const call = queue.wait(unary(), 1_000, late);
    fill(3, 3);
    await expect(call).resolves.toMatchObject({ count: 1 });
    expect(queue.isTaken("unary")).toBe(false);
    expect(queue.isTaken("bulk")).toBe(true);
    const expectation = expect(stream).rejects.toMatchObject({ reason: "BURST_EXCEEDED" });
    await time.run(1_000);
    await expectation;
  });

  test("ends each wait at its own time, and not before", async () => {
    const { queue, time } = queued();
    const outcomes: string[] = [];
    queue.wait(unary(), 100, late).catch(() => outcomes.push("first"));
    queue.wait(unary(), 50, late).catch(() => outcomes.push("second"));
    await time.run(49);
    expect(outcomes).toEqual([]);
    await time.run(1);
    expect(outcomes).toEqual(["second"]);
    await time.run(50);
    expect(outcomes).toEqual(["second", "first"]);
  });

  test("drops a caller that gives up, with the reason that it gave", async () => {
    const { queue, fill } = queued();
    const giveUp = new AbortController();
    const gone = queue.wait({ ...unary(), signal: giveUp.signal }, 1_000, late);
    const stays = queue.wait(unary(), 1_000, late);
    const expectation = expect(gone).rejects.toThrow("no longer needed");
    giveUp.abort(new Error("no longer needed"));
    await expectation;
    fill(1);
    await expect(stays).resolves.toMatchObject({ count: 1 });
  });

  test("ends every wait when it is told to", async () => {
    const { queue } = queued();
    const waits = [queue.wait(unary(), 1_000, late), queue.wait(bulk(5), 1_000, late)];
    const expectations = waits.map((wait) => expect(wait).rejects.toMatchObject({ reason: "SHUTTING_DOWN" }));
    queue.rejectAll(new IdError("SHUTTING_DOWN", "over"));
    await Promise.all(expectations);
    expect(queue.size).toBe(0);
  });

  test("rejects only the caller whose request cannot be served at all", async () => {
    const time = new ManualTime();
    const queue = new WaitQueue<ReserveRequest, ReservedIds>({
      timers: time,
      nowMs: () => time.nowMs(),
      draw: ({ risingSpan }) => {
        if (risingSpan === 1) throw new IdError("CLOCK_ROLLED_BACK", "another order");
        return { kind: "drawn", result: { count: 1 } };
      },
    });
    const stream = expect(queue.wait({ ...bulk(5), risingSpan: 1 }, 1_000, late)).rejects.toMatchObject({
      reason: "CLOCK_ROLLED_BACK",
    });
    const call = queue.wait(unary(), 1_000, late);
    queue.serve();
    await stream;
    await expect(call).resolves.toMatchObject({ count: 1 });
  });

  test("looks again by itself at the time that it was given", async () => {
    const time = new ManualTime();
    const readyMs = time.nowMs() + 30;
    const queue = new WaitQueue<ReserveRequest, ReservedIds>({
      timers: time,
      nowMs: () => time.nowMs(),
      draw: () =>
        time.nowMs() < readyMs ? { kind: "refused", untilMs: readyMs } : { kind: "drawn", result: { count: 1 } },
    });
    const wait = queue.wait(unary(), 1_000, late);
    queue.serve();
    await time.run(29);
    expect(queue.size).toBe(1);
    await time.run(1);
    await expect(wait).resolves.toMatchObject({ count: 1 });
  });
});
