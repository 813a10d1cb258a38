import { expect, test } from "vitest";
import { IdError } from "../../errors.ts";
import { Allowance } from "../../queue/allowance.ts";
import type { IdSource, ReservedIds, ReserveRequest } from "../../worker/id-source.ts";
import { type CallContext, deadlineOf, drawChunk, drawOne, drawReservation, settled } from "./issue-ids.ts";

const clock = { nowMs: () => 0, monotonicMs: () => 5_000 };
const perSecond = 1_000;
const idsOf = (count: number): ReservedIds => ({ runs: [], count, risingSpan: 3 });

/** A caller with a second's worth of IDs in hand. */
function caller(): Allowance {
  const allowance = new Allowance("orders", clock);
  allowance.limit({ idsPerSecond: perSecond, callsPerSecond: undefined, streamsMax: undefined });
  return allowance;
}

/** The rest of the caller's quota, found by taking it. */
function left(allowance: Allowance): number {
  try {
    return allowance.takeIds(10 * perSecond);
  } catch (error) {
    if (error instanceof IdError && error.reason === "QUOTA_EXCEEDED") return 0;
    throw error;
  }
}

function contextOf(more: Partial<CallContext>): CallContext {
  return { signal: new AbortController().signal, timeoutMs: () => undefined, allowance: undefined, ...more };
}

/** A source that notes what it was asked for, and answers with `answer`. */
function issuing(answer: (request: ReserveRequest) => ReservedIds | Promise<ReservedIds>) {
  const asked: ReserveRequest[] = [];
  const reserve = (request: ReserveRequest): ReservedIds | Promise<ReservedIds> => {
    asked.push(request);
    return answer(request);
  };
  const source = { reserveCountMax: 1_000, risingSpan: 3, reserve } as unknown as IdSource;
  return { options: { source, clock, batchCountMax: 1e9 }, asked };
}

test.each(["now", "later"] as const)(
  "what was handed out %s is counted, and the rest of what was taken goes back",
  async (when) => {
    const allowance = caller();
    const taken = allowance.takeIds(600);
    const answer = settled(allowance, taken, () => (when === "now" ? idsOf(250) : Promise.resolve(idsOf(250))));
    expect(answer instanceof Promise).toBe(when === "later");
    expect((await answer).count).toBe(250);
    expect([allowance.idsCount, left(allowance)]).toEqual([250, perSecond - 250]);
  },
);

test("nothing goes back where all was handed out", () => {
  const allowance = caller();
  void settled(allowance, allowance.takeIds(600), () => idsOf(600));
  expect([allowance.idsCount, left(allowance)]).toEqual([600, perSecond - 600]);
});

test.each(["now", "later"] as const)("all goes back where no ID came, and the error is reported %s", async (when) => {
  const allowance = caller();
  const error = new IdError("WORKER_LEASE_LOST", "There is no worker ID.");
  const fail = (): Promise<ReservedIds> => {
    if (when === "now") throw error;
    return Promise.reject(error);
  };
  const taken = allowance.takeIds(600);
  await expect((async () => settled(allowance, taken, fail))()).rejects.toBe(error);
  expect([allowance.idsCount, left(allowance)]).toEqual([0, perSecond]);
});

test("without a quota work is done as it is", () => {
  const drawn = idsOf(7);
  expect(settled(undefined, 7, () => drawn)).toBe(drawn);
});

test("a reservation gets what the quota has left, and asks the source for no more", () => {
  const { options, asked } = issuing(({ count }) => idsOf(count));
  const allowance = caller();
  allowance.takeIds(300);
  expect(drawReservation(options, 5_000, contextOf({ allowance }))).toEqual(idsOf(700));
  expect(asked.map(({ count, priority, risingSpan }) => [count, priority, risingSpan])).toEqual([
    [700, "bulk", undefined],
  ]);
  expect(() => drawReservation(options, 5_000, contextOf({ allowance }))).toThrow(/quota of orders/);
  expect(drawReservation(options, 5_000, contextOf({}))).toEqual(idsOf(5_000));
  expect(drawOne(options, contextOf({}))).toEqual(idsOf(1));
  expect(asked.at(-1)).toMatchObject({ count: 1, priority: "unary" });
});

test("a chunk of a stream keeps to its span, and waits for the quota until its caller goes", async () => {
  const { options, asked } = issuing(({ count }) => idsOf(count));
  const allowance = caller();
  expect(drawChunk(options, { count: 900, risingSpan: 3 }, contextOf({ allowance }))).toEqual(idsOf(900));
  expect(asked[0]).toMatchObject({ count: 900, priority: "bulk", risingSpan: 3 });
  allowance.takeIds(100);
  const gone = new AbortController();
  const waiting = drawChunk(options, { count: 900, risingSpan: 3 }, contextOf({ allowance, signal: gone.signal }));
  gone.abort(new Error("gone"));
  await expect(waiting).rejects.toThrow("gone");
  expect(asked.length).toBe(1);
});

test("a draw that waits ends with the reason of its caller's signal, and otherwise with the source's error", async () => {
  const failing = issuing(() => Promise.reject(new IdError("BURST_EXCEEDED", "Too many at once.")));
  await expect(drawOne(failing.options, contextOf({}))).rejects.toThrow("Too many at once.");
  const gone = new AbortController();
  gone.abort(new Error("gone"));
  await expect(drawOne(failing.options, contextOf({ signal: gone.signal }))).rejects.toThrow("gone");
});

test("the source asks for deadline and signal when it needs them", () => {
  const { options, asked } = issuing(({ count }) => idsOf(count));
  let questions = 0;
  const timeoutMs = (): number => {
    questions += 1;
    return 250;
  };
  const context = contextOf({ timeoutMs });
  void drawOne(options, context);
  expect(questions).toBe(0);
  expect([asked[0]!.deadlineMs, asked[0]!.signal]).toEqual([5_250, context.signal]);
  expect(deadlineOf(clock, contextOf({}))).toBeUndefined();
});
