import { composeId, type IdParts, type Layout } from "../../src/snowflake/layout.ts";
import { SeededRandom } from "../support/worlds/seeded-random.ts";

/** Numbers without a pattern, the same for one seed. */
export interface Random {
  readonly seed: number;
  /** A whole number from 0 to `end` - 1; `end` at most 2^53. */
  below(end: number): number;
}

/** Makes a source of numbers. The seed is SEED of the environment, else a fresh one; a test that fails must show it. */
export function createRandom(): Random {
  const seed = Number(process.env["SEED"] ?? Math.floor(Math.random() * 2 ** 32));
  const random = new SeededRandom(seed);
  const fraction = (): number => (random.below(2 ** 26) * 2 ** 27 + random.below(2 ** 27)) / 2 ** 53;
  return { seed, below: (end) => Math.floor(fraction() * end) };
}

/** An ID of a layout: each field anywhere in its range, or at an edge. */
export function randomId(layout: Layout, random: Random): bigint {
  return composeId(layout, randomParts(layout, random));
}

/** The parts of such an ID. */
export function randomParts(layout: Layout, random: Random): IdParts {
  const within = (max: number): number => {
    const kind = random.below(8);
    if (kind === 0) return 0;
    return kind === 1 ? max : random.below(max + 1);
  };
  return {
    ticks: within(layout.timestamp.max),
    datacenterId: within(layout.datacenter.max),
    workerId: within(layout.worker.max),
    sequence: within(layout.sequence.max),
  };
}
