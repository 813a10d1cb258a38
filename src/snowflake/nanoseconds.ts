/** Nanoseconds in a millisecond, as a number, for calculations with ticks. */
export const nsPerMs = 1_000_000;
/** The same as a bigint, for Unix times in nanoseconds, which a number cannot hold exactly. */
export const nsPerMsBig = 1_000_000n;
