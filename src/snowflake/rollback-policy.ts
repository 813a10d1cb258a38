/**
 * What a generator does when its clock shows less than it did: five named answers. Uniqueness holds under each of them;
 * they differ in who waits, who is refused, and whether IDs rise. Names as in `RollbackPolicy` of
 * proto/snowlane/v1/id_service.proto.
 */
export const rollbackPolicies = ["advance", "reject", "wait", "logical", "reuse"] as const;

/**
 * - `advance`: time stands still or runs on from the last timestamp. Guarantee: IDs rise, and a step back of at most
 *   `leadMaxMs` is noticed by nobody, at any load that the layout allows. A longer one answers `rolled-back`, and the
 *   holder moves to another worker ID.
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
