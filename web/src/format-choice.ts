import { checkTextFormat, readUtcOffset, type TextFormat } from "../../src/text/text-form.ts";
import { readWhole } from "./layout-choice.ts";
import type { FormatChoice } from "./state.ts";

/** A format that was chosen; undefined with the control that is wrong. */
export type ReadFormat =
  | { readonly kind: "format"; readonly format: TextFormat }
  | { readonly kind: "wrong"; readonly at: "serialPrefix" | "utcOffset" | "typePrefix" };

/** Reads a format as it was typed: options that its form does not have are left out. */
export function readFormat(choice: FormatChoice): ReadFormat {
  const { form, serialPrefix, utcOffset, checkSymbol, typePrefix } = choice;
  const utcOffsetMinutes = readUtcOffset(utcOffset.trim());
  if (form === "serial" && utcOffsetMinutes === undefined) return { kind: "wrong", at: "utcOffset" };
  const options = {
    serial: { serialPrefix, utcOffsetMinutes },
    base32: { checkSymbol },
    typed: { typePrefix },
  };
  const format: TextFormat =
    form === "serial" || form === "base32" || form === "typed" ? { form, ...options[form] } : { form };
  try {
    checkTextFormat(format);
    return { kind: "format", format };
  } catch {
    return { kind: "wrong", at: form === "typed" ? "typePrefix" : "serialPrefix" };
  }
}

/** Reads how many IDs are wanted; undefined if it is not a whole number. */
export function readCount(text: string): number | undefined {
  return readWhole(text.replaceAll(/[\s,_]/g, ""));
}
