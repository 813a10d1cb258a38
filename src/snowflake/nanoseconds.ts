/** Nanoseconds of a millisecond, as the number that ticks are counted with. */
export const nsPerMs = 1_000_000;
/** The same for Unix times in nanoseconds, which a number cannot hold exactly. */
export const nsPerMsBig = 1_000_000n;
