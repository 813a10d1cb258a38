/** One of those who are compared. */
export interface Contestant<Result> {
  readonly name: string;
  readonly run: () => Result | Promise<Result>;
}

/**
 * Runs each contestant once a round, in turn, so that what else the machine does meets all of them alike. The first
 * round only warms up.
 *
 * @returns The results of each contestant by its name, one a round.
 */
export async function interleave<Result>(
  contestants: readonly Contestant<Result>[],
  rounds: number,
  log: (line: string) => void,
): Promise<ReadonlyMap<string, readonly Result[]>> {
  const results = new Map<string, Result[]>(contestants.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const { name, run } of contestants) {
      const result = await run();
      if (round > 0) results.get(name)?.push(result);
    }
    log(round === 0 ? "warmed up" : `round ${round} of ${rounds}`);
  }
  return results;
}

/** The median of the ratios of each round: what else the machine does then meets both alike. */
export function medianShare(own: readonly number[], beside: readonly number[]): number {
  return median(own.map((figure, round) => figure / beside[round]!));
}

/** The middle value; of an even number of values the lower of the two. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
}
