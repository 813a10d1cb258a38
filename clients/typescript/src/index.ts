/**
 * `@snowlane/client`: the part that runs in any JavaScript runtime. `/node` and `/web` make clients, `/testing` has a
 * fake.
 */
export type { Channel, ChannelDetails, ClientOptions, LookUp, OpenChannel, Token } from "./client-options.ts";
export { type Clock, systemClock } from "./clock.ts";
export { type ClientReason, SnowlaneError, type SnowlaneReason, type StatusCode } from "./errors.ts";
export { IdClient } from "./id-client.ts";
export { ids } from "../../../src/text/ids-json.ts";
export type { IdSource } from "./id-source.ts";
export type {
  AttemptEvent,
  ClientObserver,
  ClientState,
  ExpireEvent,
  RefillEvent,
  StateEvent,
  WaitEvent,
} from "./observer.ts";
export type { ClientLogger } from "./states.ts";
export {
  createLayout,
  createTextCodec,
  type IdRange,
  idRange,
  idToString,
  type Layout,
  type LayoutSpec,
  type Moment,
  type ParsedId,
  parseId,
  presetLayout,
  type PresetName,
  presetNames,
  PublicId,
  type TextCodec,
  type TextForm,
  type TextFormat,
  textForms,
  type TextReading,
  type TextReadOptions,
} from "./offline.ts";
export { type BufferStats, PrefetchBuffer, type PrefetchOptions } from "./prefetch-buffer.ts";
export type { CallOptions, IdRun, RunSource, StreamOptions } from "./run-source.ts";
export type { ReservedValues, Sequence, SequenceValue, ValueOptions, ValueRun } from "./sequence.ts";
