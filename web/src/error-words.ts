import type { IdError } from "../../src/errors.ts";
import { type TextFault, textFaults } from "../../src/text/malformed-text.ts";
import { type TextForm, textForms } from "../../src/text/text-form.ts";
import type { Texts } from "./texts/en.ts";

/** Says in the reader's language why a line is not an ID; the error's own message where it has no such words. */
export function errorWords({ reason, message, metadata }: IdError, texts: Texts, line: string): string {
  const { parse, forms } = texts;
  // A number that is negative, or has too many digits, has no form at all.
  if (/^-?\d+$/.test(line) && BigInt(line) !== BigInt.asUintN(63, BigInt(line))) return parse.tooLarge;
  const formName = (name: string | undefined): string | undefined => {
    const form = textForms.find((known) => known === name);
    return form === undefined ? undefined : forms[form];
  };
  if (reason === "MALFORMED_TEXT") {
    const fault: TextFault | undefined = textFaults.find((known) => known === metadata["reason"]);
    const position = Number(metadata["position"]);
    return fault === undefined ? message : parse.fault(fault, position, formName(metadata["form"]));
  }
  if (reason === "AMBIGUOUS_TEXT") return parse.ambiguous(candidatesOf(metadata).map((form) => forms[form]));
  if (reason !== "MALFORMED_ID") return message;
  return metadata["layout"] === undefined ? parse.tooLarge : parse.outsideLayout;
}

/** The forms that an ambiguous text can have. */
export function candidatesOf(metadata: IdError["metadata"]): readonly TextForm[] {
  const names = (metadata["candidates"] ?? "").split(",");
  return textForms.filter((form) => names.includes(form));
}
