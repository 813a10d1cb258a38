/** Text templates of values, such as `INV-{yyyy}-{value:06}`. Pure. */
import { IdError } from "../errors.ts";
import type { Period } from "./period.ts";

/** Writes a value of a period as text. */
export type ValueWriter = (value: bigint, periodKey: string) => string;

type Part =
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "value"; readonly digits: number }
  /** A piece of the period's key, which is written as 2026-11-22, 2026-11 or 2026. */
  | { readonly kind: "date"; readonly field: "yyyy" | "MM" | "dd" };

const lengthMax = 100;
const digitsMax = 19;

/** The date fields that a template must hold, and may hold, for each period: else two periods could give one text. */
const fieldsOf: Readonly<Record<Period, readonly string[]>> = {
  none: [],
  day: ["yyyy", "MM", "dd"],
  month: ["yyyy", "MM"],
  year: ["yyyy"],
};
const places = { yyyy: [0, 4], MM: [5, 7], dd: [8, 10] } as const;

/** Checks a template; an empty one means no text. @throws IdError INVALID_SEQUENCE; its metadata names the field. */
export function checkTemplate(template: string, period: Period): void {
  if (template === "") return;
  const parts = parseTemplate(template);
  const valueCount = parts.filter(({ kind }) => kind === "value").length;
  if (valueCount !== 1) throw invalid(`It must hold {value} once; it holds it ${valueCount} times.`);
  const dates = new Set(parts.flatMap((part) => (part.kind === "date" ? [part.field] : [])));
  const needed = fieldsOf[period];
  for (const field of needed) {
    if (!dates.has(field as "yyyy")) throw invalid(`It must hold {${field}}, or texts of two periods would be equal.`);
  }
  for (const field of dates) {
    if (!needed.includes(field)) throw invalid(`It holds {${field}}, which a sequence with this period does not have.`);
  }
}

/**
 * Makes the writer of a template that {@link checkTemplate} took. Two values of a sequence never give one text: the
 * dates have a fixed width, and a value is never cut.
 */
export function createValueWriter(template: string): ValueWriter {
  const parts = parseTemplate(template);
  return (value, periodKey) => parts.map((part) => writePart(part, value, periodKey)).join("");
}

/** The most bytes that a text of a template has in UTF-8; 0 for no template. */
export function textBytesMax(template: string): number {
  if (template === "") return 0;
  return parseTemplate(template).reduce((sum, part) => sum + bytesMaxOf(part), 0);
}

function bytesMaxOf(part: Part): number {
  if (part.kind === "literal") return Buffer.byteLength(part.text);
  return part.kind === "value" ? digitsMax : part.field.length;
}

function writePart(part: Part, value: bigint, periodKey: string): string {
  if (part.kind === "literal") return part.text;
  if (part.kind === "value") return String(value).padStart(part.digits, "0");
  return periodKey.slice(...places[part.field]);
}

function parseTemplate(template: string): readonly Part[] {
  if (template.length > lengthMax)
    throw invalid(`It has ${template.length} characters; at most ${lengthMax} are taken.`);
  if (/\p{Cc}/u.test(template)) throw invalid("It holds a control character.");
  // A database would store another character, and a repeated creation would find another template.
  if (!template.isWellFormed()) throw invalid("It holds half of a surrogate pair.");
  return (template.match(/\{[^{}]*\}|[^{}]+|[{}]/g) ?? []).map(parsePart);
}

function parsePart(text: string): Part {
  if (text === "{" || text === "}") throw invalid("A brace in it has no partner.");
  if (!text.startsWith("{")) return { kind: "literal", text };
  if (text === "{yyyy}" || text === "{MM}" || text === "{dd}") {
    return { kind: "date", field: text.slice(1, -1) as "yyyy" | "MM" | "dd" };
  }
  const [, , padding] = /^\{value(:0(\d{1,2}))?\}$/.exec(text) ?? [];
  const digits = Number(padding ?? 0);
  if (text !== "{value}" && (padding === undefined || digits < 1 || digits > digitsMax)) {
    throw invalid(
      `${text} is not a field: there are {value}, {value:01} to {value:0${digitsMax}}, {yyyy}, {MM}, {dd}.`,
    );
  }
  return { kind: "value", digits };
}

function invalid(problem: string): IdError {
  const message = `The text template cannot be used. ${problem}`;
  return new IdError("INVALID_SEQUENCE", message, { metadata: { field: "text_template", problem } });
}
