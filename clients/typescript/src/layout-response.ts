import {
  LayoutFieldKind as KindMessage,
  type Layout as LayoutMessage,
} from "../../../src/gen/snowlane/v1/id_service_pb.ts";
import { durationToNs, timestampToNs } from "../../../src/service/message/time-message.ts";
import { createLayout, type Layout, type LayoutFieldKind } from "../../../src/snowflake/layout.ts";
import { invalidResponse, offline } from "./errors.ts";

const kinds: ReadonlyMap<KindMessage, LayoutFieldKind> = new Map([
  [KindMessage.TIMESTAMP, "timestamp"],
  [KindMessage.DATACENTER, "datacenter"],
  [KindMessage.WORKER, "worker"],
  [KindMessage.SEQUENCE, "sequence"],
]);

/**
 * Reads the layout that a server reports.
 *
 * @throws SnowlaneError INVALID_RESPONSE, INVALID_LAYOUT, if it is not a Snowlane server.
 */
export function layoutOfResponse(message: LayoutMessage | undefined): Layout {
  const epochNs = message?.epochTime && timestampToNs(message.epochTime);
  const tickNs = message?.tick && durationToNs(message.tick);
  if (message === undefined || epochNs === undefined || tickNs === undefined) {
    throw invalidResponse("The server did not send its layout.", {});
  }
  const fields = message.fields.map(({ kind, bits }) => {
    const name = kinds.get(kind);
    if (name === undefined) throw invalidResponse(`The server's layout has a field of kind ${kind}.`, {});
    return { kind: name, bits };
  });
  return offline(() => createLayout({ name: message.name, epochMs: Number(epochNs / 1_000_000n), tickNs, fields }));
}
