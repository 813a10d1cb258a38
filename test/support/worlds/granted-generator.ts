/** Generators of IDs under a grant, for the tests of their rules. */
import { expect } from "vitest";
import { type GeneratorOptions, SnowflakeGenerator } from "../../../src/snowflake/generator.ts";
import { decomposeId, type Layout } from "../../../src/snowflake/layout.ts";
import { layouts } from "../../../src/snowflake/presets.ts";
import type { Reservation } from "../../../src/snowflake/reservation.ts";
import { idsOf } from "../../../src/snowflake/run.ts";

const { twitter } = layouts;

/** The time at which all of them begin. */
export const startMs = Date.UTC(2026, 10, 21);
/** A monotonic clock that does not move. */
export const still = (): number => 0;
/** Matches an IdError by its reason. */
export const reason = (name: string): unknown => expect.objectContaining({ reason: name });

/** A generator of the layout twitter, before any grant. */
export function generatorOf(options: Partial<GeneratorOptions> = {}): SnowflakeGenerator {
  return new SnowflakeGenerator({ layout: twitter, sequenceSpread: false, random: () => 0, ...options });
}

/** A generator that holds worker 7 of datacenter 3 for a minute from startMs. */
export function granted(options: Partial<GeneratorOptions> = {}): SnowflakeGenerator {
  const generator = generatorOf(options);
  grant(generator, startMs, startMs + 60_000);
  return generator;
}

/** Grants a worker ID of datacenter 3, or of the highest datacenter below it. */
export function grant(
  generator: SnowflakeGenerator,
  fromMs: number,
  untilMs: number,
  nowMs = startMs,
  workerId = 7,
): void {
  const datacenterId = Math.min(3, generator.layout.datacenter.max);
  generator.grant({ datacenterId, workerId, fromMs, untilMs }, nowMs);
}

/** How many IDs a reservation has. */
export function countOf(reservation: Reservation): number {
  return reservation.kind === "runs" ? reservation.runs.reduce((sum, { count }) => sum + count, 0) : 0;
}

/** The time and sequence of each ID of a reservation. */
export function partsOf(layout: Layout, reservation: Reservation): { ms: number; sequence: number }[] {
  if (reservation.kind !== "runs") throw new Error(reservation.kind);
  return [...idsOf(reservation.runs)].map((id) => {
    const { ticks, sequence } = decomposeId(layout, id);
    return { ms: layout.epochMs + (ticks * layout.tickNs) / 1_000_000, sequence };
  });
}

/** The time and sequence of the next ID. */
export function nextOf(generator: SnowflakeGenerator, nowMs: number, mono = still): { ms: number; sequence: number } {
  const { ticks, sequence } = decomposeId(generator.layout, generator.next(nowMs, mono));
  return { ms: generator.layout.epochMs + (ticks * generator.layout.tickNs) / 1_000_000, sequence };
}
