/**
 * Unique, time-sorted 64-bit IDs in process. {@link openWorker} holds a worker ID from a store, so that no two
 * processes of a deployment ever issue the same ID; {@link SnowflakeGenerator} is the generator alone, for callers who
 * see to that themselves.
 *
 * @module
 */
export { InvariantError } from "./assert.ts";
export { type ErrorReason, errorReasons, IdError } from "./errors.ts";
export { type Exhaustion, exhaustionOf } from "./snowflake/exhaustion.ts";
export { type GeneratorOptions, type GrantWindow, SnowflakeGenerator } from "./snowflake/generator.ts";
export { type IdRange, idRange } from "./snowflake/id-range.ts";
export {
  createLayout,
  type Layout,
  type LayoutField,
  type LayoutFieldKind,
  type LayoutSpec,
} from "./snowflake/layout.ts";
export { type ParsedId, type PlausibleLayout, parseId, plausibleLayouts } from "./snowflake/parse.ts";
export { layouts, type PresetName, presetLayout, presetNames } from "./snowflake/presets.ts";
export type { Refusal, Reservation, WaitCause } from "./snowflake/reservation.ts";
export { type RollbackPolicy, rollbackPolicies } from "./snowflake/rollback-policy.ts";
export { type IdRun, idsOf } from "./snowflake/run.ts";
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
export type { IdSource, ReservedIds, ReserveRequest, ServingState, WorkerStatus } from "./worker/id-source.ts";
export { type OpenWorkerOptions, openWorker, type Worker } from "./worker/open-worker.ts";
export type { WorkerEvent } from "./worker/worker-event.ts";
