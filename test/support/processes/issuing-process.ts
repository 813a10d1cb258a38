/**
 * A process of its own that holds a worker ID on an embedded store and issues without a pause. Started by
 * worker-processes.ts.
 *
 * Writes to its standard output, a line each: what the worker reports, as JSON, and each run of IDs as `first count
 * stride`.
 */
import { argv, stdin, stdout } from "node:process";
import { systemClock } from "../../../src/clock/clock.ts";
import { layouts } from "../../../src/snowflake/presets.ts";
import { openWorker } from "../../../src/worker/open-worker.ts";

/** The parent's settings, as JSON in the first argument. */
export interface IssuingOptions {
  readonly storeUrl: string;
  readonly instance: string;
  readonly windowMs: number;
  readonly renewalPeriodMs: number;
  /** How far this process's wall clock is ahead of the machine's. */
  readonly clockAheadMs: number;
  /** IDs a round; a round takes about a millisecond. */
  readonly count: number;
}

const options = JSON.parse(argv[2] ?? "") as IssuingOptions;
const { clockAheadMs } = options;
const worker = await openWorker({
  ...options,
  namespace: "default",
  layout: layouts.twitter,
  version: "test",
  windowMaxMs: options.windowMs,
  clock: { nowMs: () => systemClock.nowMs() + clockAheadMs, monotonicMs: () => systemClock.monotonicMs() },
  onEvent: (event) => stdout.write(`${JSON.stringify(event)}\n`),
});
const { source } = worker;
source.onStateChange((state) => stdout.write(`${JSON.stringify({ kind: `state-${state.kind}` })}\n`));

const timer = setInterval(() => {
  if (source.state.kind !== "serving") return;
  const drawn = source.reserve({ count: options.count, priority: "unary" });
  if (drawn instanceof Promise) {
    drawn.catch(() => {});
    return;
  }
  for (const { firstId, count, stride } of drawn.runs) stdout.write(`${firstId} ${count} ${stride}\n`);
}, 1);

stdin.on("end", () => {
  clearInterval(timer);
  void worker.close(2_000);
});
stdin.resume();
