/** How important a log line is, least first. */
const logLevels = ["debug", "info", "warn", "error"] as const;

/** One of {@link logLevels}. */
export type LogLevel = (typeof logLevels)[number];

/** Values beside the message; the unit is in the key. An `error` is written with its causes. */
type LogFields = Readonly<Record<string, unknown>>;

/** Writes log lines: a message that never varies, and what varies in the fields. Never throws, never waits. */
export type Log = { readonly [L in LogLevel]: (message: string, fields?: LogFields) => void };

/** What a log is made from. */
export interface LogOptions {
  /** The least important level that is written. */
  readonly level: LogLevel;
  /** `json`: one object a line, `{ time, level, message, ...fields }`. `text`: for people. */
  readonly format: "text" | "json";
  readonly write: (line: string) => void;
  readonly nowMs: () => number;
}

/** Makes a log. No value can start a line of its own or hide one: control characters are escaped. */
export function createLog({ level, format, write, nowMs }: LogOptions): Log {
  const least = logLevels.indexOf(level);
  const writerOf =
    (lineLevel: LogLevel) =>
    (message: string, fields: LogFields = {}): void => {
      if (logLevels.indexOf(lineLevel) < least) return;
      const time = new Date(nowMs()).toISOString();
      const values = Object.entries(fields).filter(([, value]) => value !== undefined);
      write(
        format === "json"
          ? `${stringify({ time, level: lineLevel, message, ...Object.fromEntries(values) })}\n`
          : `${time} ${lineLevel.toUpperCase()} ${printable(message)}${values.map(toText).join("")}\n`,
      );
    };
  return { debug: writerOf("debug"), info: writerOf("info"), warn: writerOf("warn"), error: writerOf("error") };
}

function toText([key, value]: readonly [string, unknown]): string {
  const text = typeof value === "string" ? value : stringify(value);
  return ` ${key}=${/^[\w.:/@+-]+$/.test(text) ? text : printable(typeof value === "string" ? JSON.stringify(value) : text)}`;
}

function stringify(value: unknown): string {
  return JSON.stringify(value, (_key, nested: unknown) => {
    if (typeof nested === "bigint") return String(nested);
    if (nested instanceof Error) return errorFields(nested);
    return nested;
  });
}

function errorFields(error: Error): LogFields {
  const { name, message, stack, cause } = error;
  const reason = "reason" in error ? { reason: error.reason } : {};
  return { name, ...reason, message, stack, ...(cause === undefined ? {} : { cause }) };
}

/** Escapes what a terminal would act on. JSON leaves C1 controls and line separators as they are. */
function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u${code.toString(16).padStart(4, "0")}`;
  });
}
