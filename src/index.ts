/**
 * Unique, time-sorted 64-bit IDs in process. {@link openSnowlane} holds a worker ID from a store, so that no two
 * processes of a deployment ever make the same ID; {@link Snowflake} makes IDs under a worker ID that its user manages
 * by hand.
 *
 * @module
 */
import "./library/refuse-older-node.ts";

export { InvariantError } from "./assert.ts";
export { type ErrorReason, errorReasons, IdError } from "./errors.ts";
export { claimPast, type ClaimPastOptions, type PastClaim } from "./library/claim-past.ts";
export type { LayoutChoice } from "./library/choose-layout.ts";
export { openSnowlane, type SnowlaneOptions } from "./library/open-snowlane.ts";
export { Snowflake, type SnowflakeOptions, type SnowflakePorts } from "./library/snowflake.ts";
export type { CallOptions, Moment, Snowlane, StreamOptions } from "./library/snowlane.ts";
export { type Exhaustion, exhaustionOf } from "./snowflake/exhaustion.ts";
export { type IdRange, idRange } from "./snowflake/id-range.ts";
export {
  createLayout,
  type Layout,
  type LayoutField,
  type LayoutFieldKind,
  type LayoutSpec,
} from "./snowflake/layout.ts";
export { type PlausibleLayout, plausibleLayouts } from "./snowflake/layout-guess.ts";
export { type ParsedId, parseId } from "./snowflake/parse.ts";
export { layouts, type PresetName, presetLayout, presetNames } from "./snowflake/presets.ts";
export { type RollbackPolicy, rollbackPolicies } from "./snowflake/rollback-policy.ts";
export { type IdRun, idsOf } from "./snowflake/run.ts";
export { ids } from "./text/ids-json.ts";
export { type ParsedSource, parseSource } from "./text/parse-source.ts";
export { PublicId } from "./text/public-id.ts";
export {
  createTextCodec,
  type FormattedText,
  type ReadOptions,
  type TextCodec,
  type TextReading,
} from "./text/text-codec.ts";
export { type TextForm, type TextFormat, type TextOptions, textForms } from "./text/text-form.ts";
export type { UuidInfo } from "./text/uuid.ts";
export type { WorkerStatus } from "./worker/id-source.ts";
export type { WorkerEvent } from "./lease/worker-event.ts";
