import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { LayoutFieldKind, LayoutSchema } from "../../gen/snowlane/v1/id_service_pb.ts";
import { layouts, presetNames } from "../../snowflake/presets.ts";
import { layoutFromMessage, layoutFromResponse, layoutToMessage } from "./layout-message.ts";

const read = (init: MessageInitShape<typeof LayoutSchema>) =>
  layoutFromMessage(create(LayoutSchema, init), layouts.twitter);
const fields = [
  { kind: LayoutFieldKind.TIMESTAMP, bits: 41 },
  { kind: LayoutFieldKind.WORKER, bits: 10 },
  { kind: LayoutFieldKind.SEQUENCE, bits: 12 },
];
const epochTime = { seconds: 1_577_836_800n };
const tick = { nanos: 1_000_000 };

test("no layout is the server's", () => {
  expect(layoutFromMessage(undefined, layouts.discord)).toBe(layouts.discord);
});

test("a name is that preset, with an epoch that preset from then on", () => {
  expect(read({ name: "discord" })).toBe(layouts.discord);
  expect(read({ name: "baidu", epochTime })).toMatchObject({ name: "baidu", epochMs: 1_577_836_800_000, tickNs: 1e9 });
});

test("fields without a name are a custom layout", () => {
  expect(read({ epochTime, tick, fields })).toMatchObject({ name: "custom", workerCount: 1024, tickNs: 1e6 });
});

test.each<[MessageInitShape<typeof LayoutSchema>, string]>([
  [{}, "layout.fields"],
  [{ name: "nobody" }, "layout"],
  [{ name: "custom" }, "layout"],
  [{ name: "twitter", fields }, "layout.fields"],
  [{ name: "custom", epochTime, tick, fields }, "layout.fields"],
  [{ name: "twitter", tick }, "layout.tick"],
  [{ tick, fields }, "layout.epoch_time"],
  [{ epochTime, fields }, "layout.tick"],
  [{ epochTime, tick: { seconds: -1n }, fields }, "layout.tick"],
  [{ epochTime, tick: { seconds: 2n ** 62n }, fields }, "layout.tick"],
  [{ epochTime, tick: {}, fields }, "layout"],
  [{ epochTime: { nanos: 1 }, tick, fields }, "layout.epoch_time"],
  [{ epochTime: { seconds: 2n ** 62n }, tick, fields }, "layout.epoch_time"],
  [{ epochTime: { nanos: -1_000_000 }, tick, fields }, "layout.epoch_time"],
  [{ epochTime, tick, fields: [...fields, { kind: LayoutFieldKind.WORKER, bits: 1 }] }, "layout"],
  [{ epochTime, tick, fields: [{ kind: LayoutFieldKind.UNSPECIFIED, bits: 5 }] }, "layout.fields"],
  [{ epochTime, tick, fields: [{ kind: 99 as LayoutFieldKind, bits: 5 }] }, "layout.fields"],
  [{ epochTime, tick, fields: [{ kind: LayoutFieldKind.TIMESTAMP, bits: 4_000_000_000 }] }, "layout"],
])("refused layout %#", (init, field) => {
  expect(() => read(init)).toThrow(expect.objectContaining({ reason: "INVALID_LAYOUT", field }));
});

test("what a server says of its layout reads as that layout", () => {
  for (const name of presetNames) expect(layoutFromResponse(layoutToMessage(layouts[name]))).toEqual(layouts[name]);
});
