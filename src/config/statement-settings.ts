import { type Setting, SettingError } from "./setting.ts";
import { moment, type SettingBase } from "./setting-kinds.ts";

/** A setting that takes a moment, or one word in its place. */
export function momentOr<const W extends string>(base: SettingBase & { readonly word: W }): Setting<number | W> {
  const { word, ...rest } = base;
  const instant = moment(rest);
  return {
    ...instant,
    placeholder: `TIME|${word}`,
    parse: (value) => {
      if (value === word) return word;
      try {
        return instant.parse(value);
      } catch (error) {
        if (!(error instanceof SettingError)) throw error;
        throw new SettingError(`${word}, ${error.message}`);
      }
    },
    format: (value) => (value === word ? word : instant.format(value as number)),
  };
}
