/** The forms of files with rows: where the time of a row is, and how the row is written with its ID. */

/** `lines`: each line is a time. */
export const rowFormats = ["lines", "csv", "jsonl"] as const;

/** One of {@link rowFormats}. */
export type RowFormatName = (typeof rowFormats)[number];

/** A part of a row, or why it cannot be read. */
type RowPart = { readonly kind: "good"; readonly text: string } | { readonly kind: "bad"; readonly problem: string };

/** How rows of one file are read and written. Texts have one character a byte. */
export interface RowFormat {
  /** Whether a line end within quotes belongs to a row. */
  readonly isQuoted: boolean;
  /**
   * Takes the first record, where that names the columns.
   *
   * @returns It with one more column, or why that cannot be added.
   */
  readonly readHeader?: (text: string) => RowPart;
  /** The text of a row's time. */
  readonly timeOf: (text: string) => RowPart;
  /** The row with its ID, otherwise byte for byte as it was. */
  readonly withId: (text: string, id: string) => string;
}

/** Makes a format. @param timeColumn - Not used for lines. */
export function createRowFormat(name: RowFormatName, timeColumn: string, idColumn: string): RowFormat {
  const [time, id] = [bytesOf(timeColumn), bytesOf(idColumn)];
  if (name === "csv") return new CsvFormat(time, id);
  return name === "jsonl" ? jsonlFormat(time, id) : linesFormat;
}

/** UTF-8 with one character a byte. */
function bytesOf(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

/** Where a record's line end begins. */
function endOf(text: string): number {
  if (!text.endsWith("\n")) return text.length;
  return text.endsWith("\r\n") ? text.length - 2 : text.length - 1;
}

const linesFormat: RowFormat = {
  isQuoted: false,
  timeOf: (text) => ({ kind: "good", text: text.slice(0, endOf(text)).trim() }),
  withId: (text, id) => `${text.slice(0, endOf(text))}\t${id}${text.slice(endOf(text))}`,
};

/** CSV of RFC 4180; a line may also end with only LF. */
class CsvFormat implements RowFormat {
  readonly isQuoted = true;
  readonly #timeColumn: string;
  readonly #idColumn: string;
  #index = -1;
  #count = 0;

  constructor(timeColumn: string, idColumn: string) {
    this.#timeColumn = timeColumn;
    this.#idColumn = idColumn;
  }

  readHeader(text: string): RowPart {
    const bare = text.startsWith(byteOrderMark) ? text.slice(byteOrderMark.length) : text;
    const names = fieldsOf(bare.slice(0, endOf(bare)));
    if (names === undefined) return { kind: "bad", problem: "ends within quotes" };
    this.#index = names.indexOf(this.#timeColumn);
    this.#count = names.length;
    if (this.#index < 0)
      return {
        kind: "bad",
        problem: `has no column ${shown(this.#timeColumn)}; it has ${names.map(shown).join(", ")}`,
      };
    if (names.includes(this.#idColumn))
      return { kind: "bad", problem: `has a column ${shown(this.#idColumn)} already: give another --id-column` };
    return { kind: "good", text: this.withId(text, quoted(this.#idColumn)) };
  }

  timeOf(text: string): RowPart {
    const fields = fieldsOf(text.slice(0, endOf(text)));
    if (fields === undefined) return { kind: "bad", problem: "ends within quotes" };
    if (fields.length === this.#count) return { kind: "good", text: fields[this.#index]! };
    return { kind: "bad", problem: `has ${fields.length} columns, and the first line ${this.#count}` };
  }

  withId(text: string, id: string): string {
    const end = endOf(text);
    return `${text.slice(0, end)},${id}${text.slice(end)}`;
  }
}

const byteOrderMark = "\u00EF\u00BB\u00BF";

/** undefined: a quote has no end. */
export function fieldsOf(content: string): readonly string[] | undefined {
  if (!content.includes('"')) return content.split(",");
  const fields: string[] = [];
  for (let at = 0; at <= content.length; ) {
    if (content[at] !== '"') {
      const comma = content.indexOf(",", at);
      const end = comma < 0 ? content.length : comma;
      fields.push(content.slice(at, end));
      at = end + 1;
      continue;
    }
    let end = at + 1;
    while (end < content.length && (content[end] !== '"' || content[end + 1] === '"'))
      end += content[end] === '"' ? 2 : 1;
    if (end >= content.length) return undefined;
    fields.push(content.slice(at + 1, end).replaceAll('""', '"'));
    at = end + 1;
    if (at < content.length && content[at] !== ",") return undefined;
    at += 1;
  }
  return fields;
}

function quoted(name: string): string {
  return /[",\r\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name;
}

function shown(name: string): string {
  return JSON.stringify(Buffer.from(name, "latin1").toString("utf8"));
}

function jsonlFormat(timeColumn: string, idColumn: string): RowFormat {
  const key = JSON.stringify(idColumn);
  return {
    isQuoted: false,
    timeOf: (text) => readJson(text, timeColumn, idColumn),
    withId: (text, id) => {
      const brace = text.lastIndexOf("}");
      return `${text.slice(0, brace)},${key}:"${id}"${text.slice(brace)}`;
    },
  };
}

function readJson(text: string, timeColumn: string, idColumn: string): RowPart {
  let number: string | undefined;
  let row: unknown;
  const keepNumber = (key: string, value: unknown, context?: { readonly source?: string }): unknown => {
    // A number of nanoseconds has more digits than a JavaScript number.
    if (key === timeColumn && typeof value === "number") number = context?.source;
    return value;
  };
  try {
    row = JSON.parse(text.startsWith(byteOrderMark) ? text.slice(byteOrderMark.length) : text);
    if (!isObject(row)) return { kind: "bad", problem: "is not a JSON object" };
    if (typeof row[timeColumn] === "number") JSON.parse(text, keepNumber);
  } catch {
    return { kind: "bad", problem: "is not JSON" };
  }
  if (Object.hasOwn(row, idColumn))
    return { kind: "bad", problem: `has a field ${shown(idColumn)} already: give another --id-column` };
  const time = row[timeColumn];
  if (time === undefined) return { kind: "bad", problem: `has no field ${shown(timeColumn)}` };
  if (typeof time === "string") return { kind: "good", text: time };
  // A field of the same name may occur deeper in the row.
  if (typeof time === "number")
    return { kind: "good", text: number !== undefined && Number(number) === time ? number : String(time) };
  return { kind: "bad", problem: `has a time that is neither a text nor a number: ${JSON.stringify(time)}` };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
