import type { LayoutField } from "../snowflake/layout.ts";
import { type Setting, SettingError, type SettingValues } from "./setting.ts";
import { moment, type SettingBase, text, tick } from "./setting-kinds.ts";

/** Which layout: a preset, a preset with another epoch, or fields, epoch and tick of one's own. */
export const layoutSettings = {
  layoutName: text({
    name: "layout",
    placeholder: "NAME",
    pattern: /^[a-z0-9]+$/,
    cure: "the name of a preset: see snowlane layouts",
    doc: "A preset of bit layout, epoch and tick: see snowlane layouts. Default: twitter, unless --layout-fields is given.",
  }),
  layoutFields: layoutFields({
    name: "layoutFields",
    doc:
      "A layout of one's own, from the highest bit down, with --epoch and --tick: timestamp, datacenter, worker and sequence, each " +
      "with its bits, 63 in all at most. Example: timestamp:41,worker:10,sequence:12.",
  }),
  epochMs: moment({
    name: "epoch",
    doc: "The layout's zero point of time, such as 2020-01-01T00:00:00Z. Default: the preset's.",
  }),
  tickNs: tick({
    name: "tick",
    doc: "The unit of the timestamp field, with --layout-fields: 1us to 1h. Default: 1ms.",
  }),
};

/** What was said of the layout. */
export type LayoutConfig = SettingValues<typeof layoutSettings>;

const kinds = ["timestamp", "datacenter", "worker", "sequence"] as const;

function layoutFields(base: SettingBase): Setting<readonly LayoutField[]> {
  return {
    placeholder: "FIELDS",
    ...base,
    parse: (value) =>
      value.split(",").map((part) => {
        const [name, bits] = part.split(":");
        const kind = kinds.find((candidate) => candidate === name);
        if (kind === undefined || !/^\d{1,2}$/.test(bits ?? "")) {
          throw new SettingError("fields with their bits, such as timestamp:41,worker:10,sequence:12");
        }
        return { kind, bits: Number(bits) };
      }),
    format: (fields) => fields.map(({ kind, bits }) => `${kind}:${bits}`).join(","),
  };
}
