/**
 * Text templates of values, such as `INV-{yyyy}-{value:06}`. Pure. docs/adr/0203 explains why dates come only from the
 * key of the period.
 */
import { IdError } from "../errors.ts";
import { fiscalYearOf, type Period, type PeriodRules } from "./period.ts";

/** Writes a value of a period as text. */
export type ValueWriter = (value: bigint, periodKey: string) => string;

type Part =
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "value"; readonly digits: number }
  | { readonly kind: "date"; readonly field: DateField };

/** A field that is derived from the key of the period alone. */
type DateField = YearField | "MM" | "dd" | "ww" | "q";
type YearField = "yyyy" | "yy" | "yyyy+1" | "yy+1";

const dayMs = 86_400_000;
const lengthMax = 100;
const digitsMax = 19;

/** Each of them determines the year. */
const yearFields: readonly string[] = ["yyyy", "yy", "yyyy+1", "yy+1"] satisfies readonly YearField[];
const widths: Readonly<Record<DateField, number>> = {
  yyyy: 4,
  yy: 2,
  "yyyy+1": 4,
  "yy+1": 2,
  MM: 2,
  dd: 2,
  ww: 2,
  q: 1,
};

/**
 * For each period, the date fields other than the year that a template must contain, and may contain: otherwise two
 * periods could give the same text.
 */
const fieldsOf: Readonly<Record<Exclude<Period, "none">, readonly DateField[]>> = {
  day: ["MM", "dd"],
  week: ["ww"],
  month: ["MM"],
  quarter: ["q"],
  year: [],
  "fiscal-month": ["MM"],
  "fiscal-year": [],
};
const dateFields = Object.keys(widths)
  .map((field) => `{${field}}`)
  .join(", ");
/** Two digits are unambiguous only for these years. */
const [shortYearMin, shortYearMax] = [2000, 2099];

/** Checks a template; an empty one means no text. @throws IdError INVALID_SEQUENCE; its metadata names the field. */
export function checkTemplate(template: string, period: Period): void {
  if (template === "") return;
  const parts = parseTemplate(template);
  const valueCount = parts.filter(({ kind }) => kind === "value").length;
  if (valueCount !== 1) throw invalid(`It must hold {value} once; it holds it ${valueCount} times.`);
  const dates = new Set(parts.flatMap((part) => (part.kind === "date" ? [part.field] : [])));
  const needed = period === "none" ? [] : fieldsOf[period];
  for (const field of needed) {
    if (!dates.has(field)) throw invalid(`It must hold {${field}}, or texts of two periods would be equal.`);
  }
  const hasYear = [...dates].some((field) => yearFields.includes(field));
  if (period !== "none" && !hasYear) throw invalid("It must hold {yyyy}, or texts of two periods would be equal.");
  for (const field of dates) {
    if (needed.includes(field) || (period !== "none" && yearFields.includes(field))) continue;
    throw invalid(`It holds {${field}}, which a sequence with this period does not have.`);
  }
}

/**
 * Why a template cannot write texts of a period; undefined if it can. Two digits of a year stand for one century only,
 * and no clock decides which.
 */
export function templateProblem(template: string, rules: Pick<PeriodRules, "period" | "yearStart">, periodKey: string) {
  if (template === "" || rules.period === "none") return undefined;
  const isLong = parseTemplate(template).some((part) => part.kind === "date" && part.field.startsWith("yyyy"));
  const { year } = fieldsOfKey(rules, periodKey);
  if (isLong || (year >= shortYearMin && year <= shortYearMax)) return undefined;
  return `two digits can show only the years ${shortYearMin} to ${shortYearMax}, and the period is of ${year}`;
}

/**
 * Makes the writer of a template that {@link checkTemplate} accepted. Two values of a sequence never give the same
 * text: dates have a fixed width, and a value is never truncated.
 */
export function createValueWriter(template: string, rules: Pick<PeriodRules, "period" | "yearStart">): ValueWriter {
  const parts = parseTemplate(template);
  return (value, periodKey) => {
    const fields = fieldsOfKey(rules, periodKey);
    return parts.map((part) => writePart(part, value, fields)).join("");
  };
}

/** The fields of a period, from its key alone, so that a text depends on no clock and no zone. */
function fieldsOfKey({ period, yearStart }: Pick<PeriodRules, "period" | "yearStart">, periodKey: string) {
  const fields = { year: Number(periodKey.slice(0, 4)), MM: periodKey.slice(5, 7), dd: periodKey.slice(8, 10) };
  if (period === "week") return { ...fields, ...isoWeekOf(periodKey), q: "" };
  if (period !== "quarter" && !period.startsWith("fiscal")) return { ...fields, ww: "", q: "" };
  const year = fiscalYearOf(periodKey, yearStart);
  const monthsIn = (Number(fields.MM) - Number(yearStart.slice(0, 2) || 1) + 12) % 12;
  return { ...fields, year, ww: "", q: String(Math.floor(monthsIn / 3) + 1) };
}

/** The year and number of a week by ISO 8601, which are those of its Thursday. */
function isoWeekOf(monday: string) {
  const thursdayMs = Date.parse(`${monday}T00:00:00Z`) + 3 * dayMs;
  const year = new Date(thursdayMs).getUTCFullYear();
  const week = Math.floor((thursdayMs - Date.UTC(year, 0, 1)) / (7 * dayMs)) + 1;
  return { year, ww: String(week).padStart(2, "0") };
}

/** The largest size of a text of a template, in bytes of UTF-8; 0 without a template. */
export function textBytesMax(template: string): number {
  if (template === "") return 0;
  return parseTemplate(template).reduce((sum, part) => sum + bytesMaxOf(part), 0);
}

function bytesMaxOf(part: Part): number {
  if (part.kind === "literal") return Buffer.byteLength(part.text);
  return part.kind === "value" ? digitsMax : widths[part.field];
}

function writePart(part: Part, value: bigint, fields: ReturnType<typeof fieldsOfKey>): string {
  if (part.kind === "literal") return part.text;
  if (part.kind === "value") return String(value).padStart(part.digits, "0");
  const { field } = part;
  if (field === "yyyy" || field === "yy") return yearText(fields.year, field);
  if (field === "yyyy+1" || field === "yy+1") return yearText(fields.year + 1, field);
  return fields[field];
}

function yearText(year: number, field: YearField): string {
  return String(year).padStart(4, "0").slice(-widths[field]);
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
  if (text === "{" || text === "}") throw invalid("It has a brace without its partner.");
  if (!text.startsWith("{")) return { kind: "literal", text };
  const field = text.slice(1, -1);
  if (Object.hasOwn(widths, field)) return { kind: "date", field: field as DateField };
  const [, , padding] = /^\{value(:0(\d{1,2}))?\}$/.exec(text) ?? [];
  const digits = Number(padding ?? 0);
  if (text !== "{value}" && (padding === undefined || digits < 1 || digits > digitsMax)) {
    throw invalid(`${text} is not a field: there are {value}, {value:01} to {value:0${digitsMax}}, and ${dateFields}.`);
  }
  return { kind: "value", digits };
}

function invalid(problem: string): IdError {
  const message = `The text template cannot be used. ${problem}`;
  return new IdError("INVALID_SEQUENCE", message, { metadata: { field: "text_template", problem } });
}
