import { IdError } from "../errors.ts";
import { createLayout, type Layout } from "../snowflake/layout.ts";
import { presetLayout, presetNames } from "../snowflake/presets.ts";
import type { LayoutConfig } from "./layout-settings.ts";
import type { SettingProblem } from "./load-settings.ts";
import type { Resolved } from "./resolved.ts";
import { suggestion } from "./suggestion.ts";

const presetDefault = "twitter";
const tickNsDefault = 1_000_000;

/** Makes the layout that the settings describe. */
export function resolveLayout(config: LayoutConfig): Resolved<Layout> {
  const { layoutName, layoutFields, epochMs, tickNs } = config;
  const problems: SettingProblem[] = [];
  if (layoutFields === undefined) {
    if (tickNs !== undefined)
      problems.push({ place: "--tick", hint: "A preset has its own: leave it out, or give --layout-fields." });
  } else {
    if (layoutName !== undefined) {
      problems.push({ place: "--layout", value: layoutName, hint: "Leave it out, or leave --layout-fields out." });
    }
    if (epochMs === undefined)
      problems.push({ place: "--epoch", hint: "Give it with --layout-fields, such as 2020-01-01T00:00:00Z." });
  }
  if (problems.length > 0) return { kind: "bad", problems };
  try {
    const value =
      layoutFields === undefined
        ? presetLayout(layoutName ?? presetDefault, epochMs)
        : createLayout({
            name: "custom",
            epochMs: epochMs ?? 0,
            tickNs: tickNs ?? tickNsDefault,
            fields: layoutFields,
          });
    return { kind: "good", value };
  } catch (error) {
    if (!(error instanceof IdError)) throw error;
    const place = layoutFields === undefined ? "--layout" : "--layout-fields";
    const guess = layoutFields === undefined ? suggestion(layoutName ?? "", presetNames) : "";
    return { kind: "bad", problems: [{ place, hint: `${error.message}${guess}` }] };
  }
}
