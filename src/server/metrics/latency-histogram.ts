/** Upper bounds of the buckets, in milliseconds: from a call in memory to the longest that anyone waits for. */
export const latencyBoundsMs: readonly number[] = [
  0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000,
];

/** Counts durations in buckets. The numbers only grow. */
export class LatencyHistogram {
  /** One for each of {@link latencyBoundsMs}, and one for all above. */
  readonly counts: Float64Array = new Float64Array(latencyBoundsMs.length + 1);
  sumMs = 0;

  /** @param count - How many durations of this length to add. */
  add(tookMs: number, count = 1): void {
    let bucket = 0;
    while (bucket < latencyBoundsMs.length && tookMs > latencyBoundsMs[bucket]!) bucket++;
    this.counts[bucket]! += count;
    this.sumMs += tookMs * count;
  }
}
