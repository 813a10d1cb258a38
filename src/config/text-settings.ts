import {
  readUtcOffset,
  serialPrefixLengthMax,
  type TextForm,
  type TextFormat,
  textForms,
  typePrefixLengthMax,
  typePrefixPattern,
} from "../text/text-form.ts";
import type { SettingProblem } from "./load-settings.ts";
import { type Setting, SettingError, type SettingValues } from "./setting.ts";
import { choice, onOff, type SettingBase, text } from "./setting-kinds.ts";
import type { Resolved } from "./resolved.ts";

/** Settings for the form in which a text is read. */
export const readingOptions = {
  form: choice({
    name: "form",
    placeholder: "FORM",
    words: textForms,
    doc: `The text form: ${textForms.join(", ")}. Default: detected from the text. docs/text-forms.md says what each is for.`,
  }),
  utcOffsetMinutes: utcOffset({
    name: "offset",
    doc: "The offset from UTC at which serial numbers were written and are shown, such as +08:00; -18:00 to +18:00. Default: UTC.",
  }),
  typePrefix: typePrefix("Reads typed IDs with this prefix and no other text. Default: any form and any prefix."),
};

/** Settings for the form in which IDs are written. */
export const writingOptions = {
  form: choice({
    name: "form",
    placeholder: "FORM",
    words: textForms,
    doc: `Writes IDs in a text form: ${textForms.join(", ")}. docs/text-forms.md says what each is for.`,
  }),
  serialPrefix: text({
    name: "prefix",
    placeholder: "TEXT",
    pattern: new RegExp(`^[A-Z0-9]{1,${serialPrefixLengthMax}}$`),
    hint: `1 to ${serialPrefixLengthMax} characters of A-Z and 0-9`,
    doc: "With --form serial: the characters before the digits.",
  }),
  utcOffsetMinutes: utcOffset({
    name: "offset",
    doc: "With --form serial: the offset from UTC of the time in the text, such as +08:00; -18:00 to +18:00. Default: UTC.",
  }),
  checkSymbol: onOff({ name: "checkSymbol", doc: "With --form base32: adds a check symbol." }),
  typePrefix: typePrefix("With --form typed, which requires it: the characters before the underscore, such as order."),
};

/** Makes the format that the options describe; undefined where they name no form. */
export function resolveTextFormat(config: SettingValues<typeof writingOptions>): Resolved<TextFormat | undefined> {
  const { form, serialPrefix, utcOffsetMinutes, checkSymbol, typePrefix } = config;
  const problems: SettingProblem[] = [];
  const needs = (place: string, given: boolean, needed: TextForm): void => {
    if (given && form !== needed) problems.push({ place, hint: `Give --form ${needed} with it, or leave it out.` });
  };
  needs("--prefix", serialPrefix !== undefined, "serial");
  needs("--offset", utcOffsetMinutes !== undefined, "serial");
  needs("--check-symbol", checkSymbol, "base32");
  needs("--type-prefix", typePrefix !== undefined, "typed");
  if (form === "typed" && typePrefix === undefined)
    problems.push({ place: "--form", value: form, hint: "Give --type-prefix with it, such as --type-prefix order." });
  if (problems.length > 0) return { kind: "bad", problems };
  return {
    kind: "good",
    value: form === undefined ? undefined : { form, serialPrefix, utcOffsetMinutes, checkSymbol, typePrefix },
  };
}

/** A setting that takes the prefix of typed IDs. */
function typePrefix(doc: string): Setting<string> {
  return text({
    name: "typePrefix",
    placeholder: "TEXT",
    pattern: typePrefixPattern,
    hint: `a letter of a-z, then up to ${typePrefixLengthMax - 1} characters of a-z and 0-9`,
    doc,
  });
}

/** A setting that takes an offset from UTC, in minutes: `+08:00`, `-03:30`, `Z`. */
export function utcOffset(base: SettingBase): Setting<number> {
  return {
    placeholder: "OFFSET",
    ...base,
    parse: (value) => {
      const minutes = value === "Z" ? 0 : readUtcOffset(value);
      if (minutes === undefined) throw new SettingError("an offset from -18:00 to +18:00, such as +08:00");
      return minutes;
    },
    format: (value) => {
      const size = Math.abs(value);
      return `${value < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
    },
  };
}

function two(number: number): string {
  return String(number).padStart(2, "0");
}
