/**
 * Five named policies for a clock that shows less than it did before. Uniqueness holds under each of them; they differ
 * in which callers wait, which are refused, and whether IDs rise. Names as in `RollbackPolicy` of
 * proto/snowlane/v1/id_service.proto.
 */
export const rollbackPolicies = ["advance", "reject", "wait", "logical", "reuse"] as const;

/**
 * - `advance`: time stops at the last timestamp or continues from it. Guarantee: IDs rise, and a step back of at most
 *   `leadMaxMs` delays no call, at any load that the layout allows. After a longer one the generator answers
 *   `rolled-back`, and the holder moves to another worker ID.
 * - `reject`: Twitter's. Guarantee: IDs rise, and none is issued while the clock shows less than it has shown before in
 *   this grant, or less than the grant begins at; CLOCK_ROLLED_BACK is thrown at once, with the time that is missing.
 * - `wait`: Leaf's. Guarantee: that of `reject`, but callers wait while at most `leadMaxMs` is missing; above it they
 *   are refused at once.
 * - `logical`: time advances only when the sequence is used up. Guarantee: IDs rise without a gap in the (tick,
 *   sequence) count of one grant, and only a step back to more than `leadMaxMs` below the last timestamp is noticed.
 *   Timestamps lag the clock by as much as the worker was idle, without bound: they order IDs, they do not date them.
 * - `reuse`: goes back with the clock and takes sequence numbers that recent ticks left unused, as the table of
 *   tick-table.ts knows them. Guarantee: each is issued once, and timestamps follow the clock also after a step back of
 *   at most `leadMaxMs`. IDs do **not** rise across such a step: they may be below earlier ones by up to `leadMaxMs`. A
 *   longer step answers `rolled-back`.
 */
export type RollbackPolicy = (typeof rollbackPolicies)[number];

/** A policy as three properties, which the generator, the worker and the service use. */
export interface RollbackRule {
  /**
   * The reaction while the clock shows less than it has shown before in this grant. `lead`: timestamps lead the clock,
   * and a step back that is too long for that makes the holder move to another worker ID. `wait`: callers wait, unless
   * more than the greatest lead is missing. `refuse`: callers get an error.
   */
  readonly whileBehind: "lead" | "wait" | "refuse";
  /** What makes the timestamp advance: the clock, or only a sequence that is used up. */
  readonly advancesWith: "clock" | "sequence";
  /** Whether IDs rise, or go back with the clock to sequence numbers that recent ticks left unused. */
  readonly order: "rising" | "reusing";
}

/** All policies, side by side. */
export const rollbackRules: Readonly<Record<RollbackPolicy, RollbackRule>> = {
  advance: { whileBehind: "lead", advancesWith: "clock", order: "rising" },
  reject: { whileBehind: "refuse", advancesWith: "clock", order: "rising" },
  wait: { whileBehind: "wait", advancesWith: "clock", order: "rising" },
  logical: { whileBehind: "lead", advancesWith: "sequence", order: "rising" },
  reuse: { whileBehind: "lead", advancesWith: "clock", order: "reusing" },
};
