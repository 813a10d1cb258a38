import { create } from "@bufbuild/protobuf";
import {
  LayoutFieldKind as KindMessage,
  type Layout as LayoutMessage,
  LayoutSchema,
} from "../../gen/snowlane/v1/id_service_pb.ts";
import { createLayout, type Layout, type LayoutFieldKind } from "../../snowflake/layout.ts";
import { presetLayout } from "../../snowflake/presets.ts";
import { inField, RequestError } from "./request-error.ts";
import { durationToNs, nsToDuration, timestampToNs, unixMsToTimestamp } from "./time-message.ts";
import { nsPerMsBig } from "../../snowflake/nanoseconds.ts";

const kindMessages: Readonly<Record<LayoutFieldKind, KindMessage>> = {
  timestamp: KindMessage.TIMESTAMP,
  datacenter: KindMessage.DATACENTER,
  worker: KindMessage.WORKER,
  sequence: KindMessage.SEQUENCE,
};
const kindOfMessage = new Map(
  Object.entries(kindMessages).map(([kind, message]) => [message, kind as LayoutFieldKind]),
);

/** Writes a layout as a message. */
export function layoutToMessage(layout: Layout): LayoutMessage {
  return create(LayoutSchema, {
    name: layout.name,
    epochTime: unixMsToTimestamp(layout.epochMs),
    tick: nsToDuration(layout.tickNs),
    fields: layout.fields.map(({ kind, bits }) => ({ kind: kindMessages[kind], bits })),
  });
}

/**
 * Reads the layout of a request. Unset: the server's. A name alone: that preset. A name and an epoch: that preset with
 * another epoch. Fields without a name: the caller's own layout, with epoch and tick.
 *
 * @throws IdError INVALID_LAYOUT.
 */
export function layoutFromMessage(message: LayoutMessage | undefined, ofServer: Layout): Layout {
  if (message === undefined) return ofServer;
  return inField("layout", () => (message.name === "" ? customFromMessage(message) : presetFromMessage(message)));
}

/**
 * Reads the layout that a server reports as its own.
 *
 * @throws IdError INVALID_LAYOUT, if the server is not one of ours.
 */
export function layoutFromResponse(message: LayoutMessage | undefined): Layout {
  const said = message ?? create(LayoutSchema);
  return { ...customFromMessage(said), name: said.name };
}

function presetFromMessage({ name, epochTime, tick, fields }: LayoutMessage): Layout {
  if (fields.length > 0 || tick !== undefined) {
    const message = "A preset has fields and a tick of its own: give a name, or fields and a tick, not both.";
    throw invalid(fields.length > 0 ? "layout.fields" : "layout.tick", message, { name });
  }
  return presetLayout(name, epochTime === undefined ? undefined : wholeMs(epochTime));
}

function customFromMessage({ epochTime, tick, fields }: LayoutMessage): Layout {
  if (fields.length === 0) throw invalid("layout.fields", "The layout has neither the name of a preset nor fields.");
  if (epochTime === undefined) throw invalid("layout.epoch_time", "A layout of your own needs an epoch.");
  if (tick === undefined) throw invalid("layout.tick", "A layout of your own needs a tick.");
  const tickNs = durationToNs(tick);
  if (tickNs === undefined) throw invalid("layout.tick", "The tick is not a valid Duration.");
  return createLayout({
    name: "custom",
    epochMs: wholeMs(epochTime),
    tickNs,
    fields: fields.map(({ kind, bits }) => {
      const named = kindOfMessage.get(kind);
      if (named === undefined) throw invalid("layout.fields", `A field has the unknown kind ${kind}.`, { kind });
      return { kind: named, bits };
    }),
  });
}

function wholeMs(epochTime: NonNullable<LayoutMessage["epochTime"]>): number {
  const ns = timestampToNs(epochTime);
  if (ns === undefined || ns % nsPerMsBig !== 0n) {
    throw invalid("layout.epoch_time", "The epoch is not a Timestamp in whole milliseconds.");
  }
  return Number(ns / nsPerMsBig);
}

function invalid(
  field: string,
  message: string,
  metadata: Readonly<Record<string, string | number>> = {},
): RequestError {
  return new RequestError("INVALID_LAYOUT", field, message, metadata);
}
