/** The generator under clocks that do anything. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { SnowflakeGenerator } from "../../src/snowflake/generator.ts";
import { composeId, createLayout, decomposeId } from "../../src/snowflake/layout.ts";
import type { Reservation } from "../../src/snowflake/reservation.ts";
import { rollbackPolicies } from "../../src/snowflake/rollback-policy.ts";
import { idsOf } from "../../src/snowflake/run.ts";
import { arbitraryIssuingLayout, traceStartMs } from "../support/worlds/arbitrary-layout.ts";
import { scale } from "../support/worlds/scale.ts";
import { type DeploymentEvent, MarkedDeployment } from "../support/worlds/marked-deployment.ts";
import { SeededRandom } from "../support/worlds/seeded-random.ts";

const year = 31_557_600_000;
const steps = [
  0,
  0,
  1,
  1,
  2,
  9,
  10,
  11,
  100,
  999,
  1_500,
  1_999,
  2_000,
  2_001,
  3_000,
  60_000,
  3_600_000,
  year,
  80 * year,
];
const arbitraryStep = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...steps) },
  { weight: 1, arbitrary: fc.constantFrom(...steps.map((ms) => -ms)) },
  { weight: 1, arbitrary: fc.integer({ min: -5_000, max: 5_000 }) },
);
const arbitraryTime = fc
  .record({ wallMs: arbitraryStep, monotonicMs: fc.double({ min: 0, max: 3_000, noNaN: true }) })
  .map(({ wallMs, monotonicMs }): DeploymentEvent => ({ kind: "time", wallMs, monotonicMs }));
const arbitrarySmoothTime = fc.nat(20).map((ms): DeploymentEvent => ({ kind: "time", wallMs: ms, monotonicMs: ms }));
const arbitraryWorker = fc.nat(3);
const arbitraryEvent: fc.Arbitrary<DeploymentEvent> = fc.oneof(
  { weight: 4, arbitrary: arbitraryTime },
  { weight: 4, arbitrary: arbitrarySmoothTime },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("next" as const), count: fc.integer({ min: 1, max: 40 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("reserve" as const),
      count: fc.oneof(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 20_000 })),
      priority: fc.constantFrom("unary" as const, "bulk" as const),
    }),
  },
  { weight: 2, arbitrary: fc.constant<DeploymentEvent>({ kind: "renew" }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("crash" as const), workerIndex: arbitraryWorker }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("release" as const), workerIndex: arbitraryWorker }) },
);

test.each(rollbackPolicies)("under %s no ID comes twice, whatever the clock, crashes and restarts do", (policy) => {
  let issuedCount = 0;
  fc.assert(
    fc.property(
      arbitraryIssuingLayout,
      fc.array(arbitraryEvent, { minLength: 5, maxLength: 60 }),
      fc.integer(),
      (layout, events, seed) => {
        const deployment = new MarkedDeployment(layout, policy, traceStartMs, seed);
        for (const event of events) deployment.happen(event);
        issuedCount += deployment.issuedCount;
      },
    ),
    { numRuns: 250 * scale },
  );
  // A generator that refuses everything is unique too.
  expect(issuedCount).toBeGreaterThan(10_000 * scale);
});

test.each(rollbackPolicies)("under %s a reservation is what one-by-one calls give", (policy) => {
  const readings = fc.array(
    fc.record({ wallMs: fc.integer({ min: -1_500, max: 1_600 }), count: fc.integer({ min: 1, max: 3_000 }) }),
    { minLength: 1, maxLength: 25 },
  );
  fc.assert(
    fc.property(arbitraryIssuingLayout, readings, fc.integer(), (layout, trace, seed) => {
      const [whole, single] = [0, 1].map(() => {
        const generator = new SnowflakeGenerator({ layout, policy, random: randomOf(seed) });
        const window = { datacenterId: 0, workerId: 0, fromMs: traceStartMs, untilMs: traceStartMs + 30_000 };
        generator.grant(window, traceStartMs);
        return generator;
      }) as [SnowflakeGenerator, SnowflakeGenerator];
      let nowMs = traceStartMs;
      for (const { wallMs, count } of trace) {
        nowMs = Math.max(nowMs + wallMs, layout.epochMs);
        const mono = (): number => nowMs / 2;
        const answer = outcomeOf(() => whole.reserve(count, nowMs, "unary", mono));
        const ids: bigint[] = [];
        let last: bigint | undefined | string = 0n;
        while (ids.length < count) {
          last = outcomeOf(() => single.tryNext(nowMs, mono));
          if (typeof last !== "bigint") break;
          ids.push(last);
        }
        if (typeof answer === "string") expect(last).toBe(answer);
        else expect(ids).toEqual(answer.kind === "runs" ? [...idsOf(answer.runs)] : []);
        expect(single.markMs).toBe(whole.markMs);
      }
    }),
    { numRuns: 200 * scale },
  );
});

/** Layouts in which the sequence crosses bit 32, so that an ID differs from the one before it in both halves. */
const arbitraryCrossingLayout = fc
  .record({ worker: fc.integer({ min: 21, max: 30 }), sequence: fc.integer({ min: 6, max: 9 }) })
  .map(({ worker, sequence }) => {
    const bits = Math.max(sequence, 33 - worker);
    const fields = [
      { kind: "timestamp" as const, bits: 24 },
      { kind: "sequence" as const, bits },
      { kind: "worker" as const, bits: worker },
    ];
    return createLayout({ name: "custom", epochMs: traceStartMs, tickNs: 1_000_000, fields });
  });

test.each(rollbackPolicies)(
  "under %s reservations and one-by-one calls mixed in one tick never repeat an ID",
  (policy) => {
    const call = fc.oneof(fc.constant("next" as const), fc.integer({ min: 1, max: 60 }));
    fc.assert(
      fc.property(
        fc.oneof(arbitraryIssuingLayout, arbitraryCrossingLayout),
        fc.array(fc.record({ call, passedMs: fc.constantFrom(0, 0, 0, 1) }), { minLength: 2, maxLength: 80 }),
        fc.integer(),
        (layout, calls, seed) => {
          const generator = new SnowflakeGenerator({ layout, policy, random: randomOf(seed) });
          const window = { datacenterId: 0, workerId: 0, fromMs: traceStartMs, untilMs: traceStartMs + 30_000 };
          generator.grant(window, traceStartMs);
          const ids: bigint[] = [];
          let nowMs = traceStartMs;
          for (const { call, passedMs } of calls) {
            nowMs += passedMs;
            if (call === "next") {
              const id = generator.tryNext(nowMs, () => nowMs);
              if (id !== undefined) ids.push(id);
            } else {
              const answer = generator.reserve(call, nowMs, "unary", () => nowMs);
              if (answer.kind === "runs") ids.push(...idsOf(answer.runs));
            }
          }
          expect(new Set(ids).size).toBe(ids.length);
          expect(ids.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(ids);
        },
      ),
      { numRuns: 200 * scale },
    );
  },
);

function randomOf(seed: number): () => number {
  const random = new SeededRandom(seed);
  return () => random.below(2 ** 32) / 2 ** 32;
}

/** The result of a call, or the reason of the error that it throws. */
function outcomeOf<Result>(call: () => Result): Result | string {
  try {
    return call();
  } catch (error) {
    return (error as { reason: string }).reason;
  }
}

test("IDs put together in halves are those put together as bigints", () => {
  fc.assert(
    fc.property(arbitraryIssuingLayout, fc.integer(), fc.nat(), fc.nat(), (layout, seed, datacenter, worker) => {
      const generator = new SnowflakeGenerator({ layout, random: randomOf(seed) });
      const datacenterId = datacenter % (layout.datacenter.max + 1);
      const workerId = worker % (layout.worker.max + 1);
      const window = { datacenterId, workerId, fromMs: traceStartMs, untilMs: traceStartMs + 1e12 };
      generator.grant(window, traceStartMs);
      const answer: Reservation = generator.reserve(3_000, traceStartMs, "unary", () => 0);
      if (answer.kind !== "runs") throw new Error(answer.kind);
      let [lastTick, lastSequence] = [-1, -1];
      for (const id of idsOf(answer.runs)) {
        const parts = decomposeId(layout, id);
        const isOurs = parts.datacenterId === datacenterId && parts.workerId === workerId;
        const follows = parts.ticks === lastTick ? parts.sequence === lastSequence + 1 : parts.ticks > lastTick;
        if (!isOurs || !follows || composeId(layout, parts) !== id) throw new Error(`${id} is wrong`);
        [lastTick, lastSequence] = [parts.ticks, parts.sequence];
      }
    }),
    { numRuns: 300 * scale },
  );
});

test("trying again when a wait says so works, if the clock just goes on", () => {
  const trace = fc.array(
    fc.record({ stepMs: fc.integer({ min: -700, max: 300 }), count: fc.integer({ min: 1, max: 9_000 }) }),
    {
      minLength: 1,
      maxLength: 20,
    },
  );
  fc.assert(
    fc.property(arbitraryIssuingLayout, trace, fc.constantFrom("unary", "bulk"), (layout, readings, kind) => {
      const generator = new SnowflakeGenerator({ layout, random: () => 0.5 });
      const window = { datacenterId: 0, workerId: 0, fromMs: traceStartMs, untilMs: traceStartMs + 1e12 };
      generator.grant(window, traceStartMs);
      let nowMs = traceStartMs;
      let mono = 0;
      for (const { stepMs, count } of readings) {
        nowMs = Math.max(nowMs + stepMs, layout.epochMs);
        mono += Math.max(stepMs, 0);
        const answer = outcomeOf(() => generator.reserve(count, nowMs, kind, () => mono));
        if (typeof answer === "string" || answer.kind !== "wait") continue;
        mono += answer.untilMs - nowMs;
        nowMs = answer.untilMs;
        const again = outcomeOf(() => generator.reserve(1, nowMs, kind, () => mono));
        expect(typeof again === "string" ? again : again.kind).toSatisfy(
          (outcome: string) => outcome === "runs" || outcome === "TIMESTAMP_EXHAUSTED",
        );
      }
    }),
    { numRuns: 500 * scale },
  );
});
