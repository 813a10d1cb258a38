import type { Layout } from "../../../src/snowflake/layout.ts";
import type { PresetName } from "../../../src/snowflake/presets.ts";
import type { BestLayout } from "./best-layout.ts";
import { chosenLayout } from "../layout-field.ts";
import type { State } from "../state.ts";

/** Whether each ID is read by its likeliest layout: as long as the reader chose none. */
export function isGuessed({ layout }: State): boolean {
  return layout.name === "server" && layout.epochMs === "" && layout.epochDate === "";
}

/** The layout of each ID: the chosen one, or the likeliest where none is chosen. */
export function layoutChooser(
  state: State,
  bestOf: (id: bigint, maker?: PresetName) => BestLayout,
): (id: bigint, maker?: PresetName) => Layout {
  const { layout } = chosenLayout(state);
  if (!isGuessed(state)) return () => layout;
  return (id, maker) => bestOf(id, maker).layout ?? layout;
}
