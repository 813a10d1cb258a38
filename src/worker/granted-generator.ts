/** The generator as the holder uses it. Each call is one synchronous step. SnowflakeGenerator implements it. */
export interface GrantedGenerator {
  /**
   * Takes a grant into use; the previous one, if any, is over.
   *
   * @param grant - Timestamps from `fromMs` inclusive to `untilMs` exclusive: Unix milliseconds, both rounded up to
   * ticks.
   */
  grant(
    grant: {
      readonly datacenterId: number;
      readonly workerId: number;
      readonly fromMs: number;
      readonly untilMs: number;
    },
    nowMs: number,
  ): void;
  /** Lets timestamps below `untilMs` be issued; never takes anything back. */
  extend(untilMs: number): void;
  /** Ends the grant: nothing is issued until the next. */
  revoke(): void;
  /** Above every timestamp issued under the grant, and not below its start: Unix milliseconds, exclusive. */
  readonly markMs: number;
  /** The highest timestamp issued under the grant: Unix milliseconds. */
  readonly lastMs: number;
}
