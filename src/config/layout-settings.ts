import { type LayoutField, layoutFieldKinds } from "../snowflake/layout.ts";
import { presetNames } from "../snowflake/presets.ts";
import { type Setting, SettingError, type SettingValues } from "./setting.ts";
import { moment, type SettingBase, text, tick } from "./setting-kinds.ts";

/** Settings of the layout: a preset, a preset with another epoch, or your own fields, epoch and tick. */
export const layoutSettings = {
  layoutName: text({
    name: "layout",
    placeholder: "NAME",
    words: presetNames,
    pattern: /^[a-z0-9.-]+$/,
    hint: "the name of a preset: see snowlane layouts",
    doc: "A preset of bit layout, epoch and tick: see snowlane layouts. Default: twitter, unless --layout-fields is given.",
  }),
  layoutFields: layoutFields({
    name: "layoutFields",
    doc:
      "Your own layout, from the highest bit down, with --epoch and --tick: timestamp, datacenter, worker and sequence, each with " +
      "its bits, 63 in all at most. Example: timestamp:41,worker:10,sequence:12.",
  }),
  epochMs: epoch({
    name: "epoch",
    doc:
      "The instant at which the layout's time begins, such as 2020-01-01T00:00:00Z; a number is Unix milliseconds. " +
      "Default: the preset's.",
  }),
  tickNs: tick({
    name: "tick",
    doc: "The unit of the timestamp field, with --layout-fields: 1us to 1h. Default: 1ms.",
  }),
};

/** The settings of the layout, with their values. */
export type LayoutConfig = SettingValues<typeof layoutSettings>;

/** A number below this is taken for Unix seconds: as milliseconds it would be before March 1973. */
const epochNumberMin = 1e11;

/** A setting that takes a moment, or Unix milliseconds as a number. */
function epoch(base: SettingBase): Setting<number> {
  const written = moment(base);
  return {
    ...written,
    parse: (value) => {
      if (!/^\d+$/.test(value)) return written.parse(value);
      if (Number(value) >= epochNumberMin) return Number(value);
      throw new SettingError(
        `Unix milliseconds: ${value} looks like seconds. Or give a time such as 2020-01-01T00:00:00Z`,
      );
    },
  };
}

function layoutFields(base: SettingBase): Setting<readonly LayoutField[]> {
  return {
    placeholder: "FIELDS",
    ...base,
    parse: (value) =>
      value.split(",").map((part) => {
        const [name, bits] = part.split(":");
        const kind = layoutFieldKinds.find((candidate) => candidate === name);
        if (kind === undefined || !/^\d{1,2}$/.test(bits ?? "")) {
          throw new SettingError("fields with their bits, such as timestamp:41,worker:10,sequence:12");
        }
        return { kind, bits: Number(bits) };
      }),
    format: (fields) => fields.map(({ kind, bits }) => `${kind}:${bits}`).join(","),
  };
}
