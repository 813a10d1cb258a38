import type { LayoutFieldKind } from "./layout.ts";
import type { PresetName } from "./presets.ts";

const names: Readonly<Partial<Record<PresetName, Readonly<Partial<Record<LayoutFieldKind, string>>>>>> = {
  // https://discord.com/developers/docs/reference#snowflakes
  discord: { datacenter: "worker", worker: "process", sequence: "increment" },
  // https://instagram-engineering.com/sharding-ids-at-instagram-1cf5a71e5a5c
  instagram: { worker: "shard" },
  // https://pkg.go.dev/github.com/sony/sonyflake
  sonyflake: { worker: "machine" },
};

/** The name that the maker of a preset uses for a field, if it differs from ours; otherwise undefined. */
export function makersFieldName(layoutName: string, kind: LayoutFieldKind): string | undefined {
  return Object.hasOwn(names, layoutName) ? names[layoutName as PresetName]?.[kind] : undefined;
}
