import { IdError } from "../errors.ts";
import { createLayout, type Layout, type LayoutSpec } from "../snowflake/layout.ts";
import { presetLayout, type PresetName } from "../snowflake/presets.ts";

/** A layout as a program names it: a preset by its name, or a layout, whole or as fields, epoch and tick. */
export type LayoutChoice = PresetName | LayoutSpec;

/**
 * Returns the layout that a program chose. Default: `twitter`.
 *
 * @throws IdError INVALID_LAYOUT.
 */
export function chooseLayout(choice: LayoutChoice = "twitter"): Layout {
  if (typeof choice === "string") return presetLayout(choice);
  if (typeof choice !== "object" || choice === null || !Array.isArray(choice.fields)) {
    const message = "The layout is neither the name of a preset nor an object with name, epochMs, tickNs and fields.";
    throw new IdError("INVALID_LAYOUT", message, { metadata: { type: typeof choice } });
  }
  return createLayout(choice);
}
