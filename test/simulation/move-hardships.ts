import { SeededRandom } from "./seeded-random.ts";

/** What the two stores of a seed and their processes meet besides deaths, pauses and slow links. */
export interface MoveHardships {
  /** Processes raise the quarantine of a store that is being moved, as a holder does whose record went back. */
  readonly raises: boolean;
  /** A store goes back now and then, and its identity shows it. The record in place of its layout record stays. */
  readonly loses: boolean;
  /** Some processes are pinned to a worker ID. */
  readonly pins: boolean;
  /** See RecordStore.readsMayBeUndone: of the stores that keep what they confirmed. */
  readonly readsMayBeUndone: boolean;
}

const hardshipsSalt = 60_217;
const hardshipsShare = 0.6;

/** Draws them with numbers of their own, so that seeds without any keep the histories that they had. */
export function drawHardships(seed: number): MoveHardships {
  const random = new SeededRandom(seed ^ hardshipsSalt);
  if (!random.chance(hardshipsShare)) return { raises: false, loses: false, pins: false, readsMayBeUndone: false };
  return {
    raises: random.chance(0.6),
    loses: random.chance(0.4),
    pins: random.chance(0.4),
    readsMayBeUndone: random.chance(0.5),
  };
}
