import { onTestFinished } from "vitest";
import { systemClock, systemTimers } from "../../../src/clock/clock.ts";
import { Sequences } from "../../../src/sequence/sequences.ts";

/**
 * The sequences of a server of Snowlane, until the test ends. Every value is taken for a caller, so that the database
 * knows of each.
 *
 * @param behindMs - By how much its wall clock is behind.
 */
export function openSequences(storeUrl: string, namespace = "default", behindMs = 0) {
  const sequences = new Sequences({
    storeUrls: [storeUrl],
    store: { namespace, callTimeoutMs: 20_000 },
    waitMaxMs: 60_000,
    namesMax: 10,
    clock: { ...systemClock, nowMs: () => systemClock.nowMs() - behindMs },
    timers: systemTimers,
    onEvent: () => {},
  });
  onTestFinished(() => sequences.close(1_000));
  const catalog = () => sequences.catalog();
  const take = async (count: number): Promise<readonly number[]> => {
    const values: number[] = [];
    while (values.length < count) {
      const source = await sequences.open("orders");
      const { runs } = await source.reserve({ count: count - values.length, priority: "unary" });
      for (const run of runs) for (let at = 0; at < run.count; at += 1) values.push(Number(run.firstValue) + at);
    }
    return values;
  };
  return { catalog, take, close: () => sequences.close(1_000) };
}
