import { type Clock, systemClock } from "../clock/clock.ts";
import { nap } from "../clock/nap.ts";
import { IdError } from "../errors.ts";
import { SnowflakeGenerator } from "../snowflake/generator.ts";
import type { FieldPlace, Layout } from "../snowflake/layout.ts";
import { nsPerMs } from "../snowflake/nanoseconds.ts";
import { checkOptions, lengthMs, type OptionRule, whole } from "./check-options.ts";
import { chooseLayout, type LayoutChoice } from "./choose-layout.ts";

/** The options of a {@link Snowflake}. */
export interface SnowflakeOptions {
  /** 0 to the layout's highest: 31 for `twitter`. No other process may use the same one with the same datacenter. */
  readonly workerId: number;
  /** 0 to the layout's highest. Default: 0. */
  readonly datacenterId?: number | undefined;
  /** Default: `twitter`. Its tick is at most 1 s, because the thread waits for the next one. */
  readonly layout?: LayoutChoice | undefined;
  /**
   * How far the clock may go back before there is an error. The thread waits for that time. 0 to 60,000 ms. Default:
   * 10.
   */
  readonly rollbackMaxMs?: number | undefined;
}

/** The clocks and the sleep of a {@link Snowflake}, which tests replace. */
export interface SnowflakePorts {
  /** Only its wall clock is read. */
  readonly clock: Clock;
  /** Blocks the thread for this many milliseconds, which may be a fraction. */
  readonly nap: (lengthMs: number) => void;
}

const rollbackMaxMsDefault = 10;
const rollbackMaxMsMax = 60_000;
const tickMaxMs = 1_000;
/** The last millisecond before a tick is slept through in parts, because a sleep of 1 ms can take up to 2 ms. */
const napMinMs = 0.05;

const rules: Readonly<Record<keyof SnowflakeOptions, OptionRule>> = {
  workerId: whole,
  datacenterId: whole,
  // chooseLayout checks it in detail.
  layout: { accepts: () => true, hint: "a layout" },
  rollbackMaxMs: {
    accepts: (value) => lengthMs.accepts(value) && Number(value) <= rollbackMaxMsMax,
    hint: `a number of milliseconds from 0 to ${rollbackMaxMsMax}`,
  },
};

/** Stands for the monotonic clock, which the policy `reject` never reads. */
const unread = (): number => 0;

/** The worker IDs that this process uses, each with its layout. */
const used = new Set<string>();

/**
 * Makes IDs under a worker ID that you manage by hand, without a store: for programs that cannot share one.
 *
 * Synchronous. The time in an ID is never ahead of the clock. Nothing remembers the last ID over a restart, so
 * **two cases repeat IDs, and nothing notices either of them**: two processes (or two threads) with one worker ID, and
 * a clock that is set back between the end of a process and the start of the next. `openSnowlane` has neither hazard.
 *
 * The thread is blocked while a tick's IDs are used up, for at most one tick, and after a step of the clock back, for
 * at most `rollbackMaxMs`.
 */
export class Snowflake {
  readonly layout: Layout;
  readonly #generator: SnowflakeGenerator;
  readonly #ports: SnowflakePorts;
  readonly #rollbackMaxMs: number;
  /** A tick, or a millisecond if ticks are shorter: the resolution of the clock. */
  readonly #stepMs: number;
  /** The highest reading of the wall clock. */
  #readingMs: number;

  /**
   * Blocks until the tick has passed in which it was called, because another process may have used that tick.
   *
   * @throws IdError INVALID_CONFIG, also for a layout and worker ID that this process already uses; INVALID_LAYOUT,
   * CLOCK_BEFORE_EPOCH, TIMESTAMP_EXHAUSTED, CLOCK_ROLLED_BACK.
   */
  constructor(options: SnowflakeOptions, ports: SnowflakePorts = { clock: systemClock, nap }) {
    checkOptions(options, rules);
    const { workerId, datacenterId = 0, rollbackMaxMs = rollbackMaxMsDefault } = options;
    const layout = chooseLayout(options.layout);
    checkTick(layout);
    checkField("workerId", workerId, layout.worker);
    checkField("datacenterId", datacenterId, layout.datacenter);
    this.layout = layout;
    this.#ports = ports;
    this.#rollbackMaxMs = rollbackMaxMs;
    this.#stepMs = Math.max(1, layout.tickNs / nsPerMs);
    this.#generator = new SnowflakeGenerator({ layout, policy: "reject", burstMs: 1, random: Math.random });
    const key = JSON.stringify([layout.fields, layout.epochMs, layout.tickNs, datacenterId, workerId]);
    if (used.has(key)) {
      const message = `workerId ${workerId} is in use in this process: share one Snowflake, or give another worker ID.`;
      throw new IdError("INVALID_CONFIG", message, { metadata: { setting: "workerId", worker_id: workerId } });
    }
    this.#readingMs = ports.clock.nowMs();
    checkLife(layout, this.#readingMs);
    const fromMs = this.#stepEndMs();
    this.#readingMs = this.#waitUntil(fromMs);
    // The mark is the end of the clock's present step, so that timestamps are never ahead of the clock.
    this.#generator.grant({ datacenterId, workerId, fromMs, untilMs: this.#stepEndMs() }, this.#readingMs);
    used.add(key);
  }

  /**
   * Makes the next ID; IDs of one Snowflake rise.
   *
   * @throws IdError CLOCK_ROLLED_BACK with `retryAfterMs`, TIMESTAMP_EXHAUSTED.
   */
  next(): bigint {
    const { clock } = this.#ports;
    let nowMs = clock.nowMs();
    for (;;) {
      if (nowMs !== this.#readingMs) nowMs = this.#read(nowMs);
      const id = this.#generator.tryNext(nowMs, unread);
      if (id !== undefined) return id;
      nowMs = this.#waitUntil(this.#stepEndMs());
    }
  }

  #read(nowMs: number): number {
    this.#readingMs = nowMs > this.#readingMs ? nowMs : this.#waitUntil(this.#readingMs);
    this.#generator.extend(this.#stepEndMs());
    return this.#readingMs;
  }

  /** The end of the step that contains the highest reading. */
  #stepEndMs(): number {
    const { epochMs } = this.layout;
    return epochMs + (Math.floor((this.#readingMs - epochMs) / this.#stepMs) + 1) * this.#stepMs;
  }

  /**
   * Blocks until the wall clock shows `untilMs`.
   *
   * @returns The reading, at or above `untilMs`.
   * @throws IdError CLOCK_ROLLED_BACK if the clock is too far behind the highest reading, or does not advance.
   */
  #waitUntil(untilMs: number): number {
    const { clock, nap } = this.#ports;
    const startMs = clock.monotonicMs();
    for (;;) {
      const nowMs = clock.nowMs();
      if (nowMs >= untilMs) return nowMs;
      const behindMs = this.#readingMs - nowMs;
      const waitedMs = clock.monotonicMs() - startMs;
      if (behindMs > this.#rollbackMaxMs || waitedMs > 2 * (this.#stepMs + this.#rollbackMaxMs)) {
        const what = behindMs > 0 ? `is ${behindMs} ms behind what it has shown` : "stands still";
        const message = `The clock ${what}. This Snowflake waits for at most ${this.#rollbackMaxMs} ms.`;
        const metadata = { behind_ms: behindMs, rollback_max_ms: this.#rollbackMaxMs };
        throw new IdError("CLOCK_ROLLED_BACK", message, { metadata, retryAfterMs: untilMs - nowMs });
      }
      nap(Math.max(napMinMs, untilMs - nowMs - 1));
    }
  }
}

function checkField(setting: "workerId" | "datacenterId", value: number, { max }: FieldPlace): void {
  if (value >= 0 && value <= max) return;
  const message = `${setting} is ${value}. Give a whole number from 0 to ${max}, as the layout has.`;
  throw new IdError("INVALID_CONFIG", message, { metadata: { setting, value: String(value), min: 0, max } });
}

function checkTick({ name, tickNs }: Layout): void {
  const tickMs = tickNs / nsPerMs;
  if (tickMs <= tickMaxMs) return;
  const hint = `Give one with ticks of at most ${tickMaxMs} ms, because the thread waits for the next tick.`;
  const message = `The layout ${name} has ticks of ${tickMs} ms. ${hint}`;
  throw new IdError("INVALID_CONFIG", message, { metadata: { setting: "layout", tick_ms: tickMs } });
}

/** Refuses a layout that can make no ID now, at construction and not only at the first ID. */
function checkLife({ name, epochMs, endMs }: Layout, nowMs: number): void {
  if (nowMs >= epochMs && nowMs < endMs) return;
  const reason = nowMs < epochMs ? "CLOCK_BEFORE_EPOCH" : "TIMESTAMP_EXHAUSTED";
  const message = `The clock shows ${nowMs} ms; the layout ${name} lasts from ${epochMs} ms until ${endMs} ms.`;
  throw new IdError(reason, message, { metadata: { now_ms: nowMs, epoch_ms: epochMs, end_ms: endMs } });
}
