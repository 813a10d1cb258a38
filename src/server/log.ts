import { redactField } from "./redaction.ts";

/** How important a log line is, least first. */
const logLevels = ["debug", "info", "warn", "error"] as const;

/** One of {@link logLevels}. */
export type LogLevel = (typeof logLevels)[number];

/** Values in addition to the message; the unit is in the key. An `error` is written with its causes. */
type LogFields = Readonly<Record<string, unknown>>;

/** Writes log lines: a message that never varies, and fields with the values that do. Never throws, never waits. */
export type Log = { readonly [L in LogLevel]: Line };

type Line = (message: string, fields?: LogFields) => void;

/** How long an error line stands for further ones like it. */
const foldMs = 10_000;
/** The most lines below `error` with one message and reason in that time. */
const linesMax = 10;

/** The least level of a log, its form, and where its lines go. */
export interface LogOptions {
  /** The lowest level that is written. */
  readonly level: LogLevel;
  /** `json`: one object a line, `{ time, level, message, ...fields }`. `text`: for people. */
  readonly format: "text" | "json";
  /** Takes one line, with the line feed at its end. Must not throw. */
  readonly write: (line: string) => void;
  /** The wall clock of the lines' times: Unix milliseconds. */
  readonly nowMs: () => number;
  /** Colours the level of a line of text; absent: it stays as it is. */
  readonly paint?: (level: LogLevel, word: string) => string;
}

/**
 * Makes a log. An `IdError` has its stacks at `debug` alone. No value can start a line of its own or hide one: control
 * characters are escaped. docs/adr/0020 says why no package does this.
 *
 * Of equal errors it writes one line in ten seconds, and then their number: a caller that makes one call fail can do so
 * thousands of times a second. Of other lines with one message and reason it writes ten. Secrets are hidden.
 */
export function createLog({ level, format, write, nowMs, paint = (_level, word) => word }: LogOptions): Log {
  const least = logLevels.indexOf(level);
  const writerOf =
    (lineLevel: LogLevel) =>
    (message: string, fields: LogFields = {}): void => {
      if (logLevels.indexOf(lineLevel) < least) return;
      const time = new Date(nowMs()).toISOString();
      const values = Object.entries(fields)
        .filter(([, value]) => value !== undefined)
        .map(([key, value]) => [key, level === "debug" || !isForOperators(value) ? value : brief(value, format)]);
      write(
        format === "json"
          ? `${stringify({ time, level: lineLevel, message, ...Object.fromEntries(values) })}\n`
          : `${time} ${paint(lineLevel, lineLevel.toUpperCase())} ${printable(message)}${values.map(([key, value]) => toText(String(key), value)).join("")}\n`,
      );
    };
  const [debug, info, warn] = [writerOf("debug"), writerOf("info"), writerOf("warn")].map(bound) as [Line, Line, Line];
  return { debug, info, warn, error: fold(writerOf("error")) };
}

/** Writes at most ten lines of one message and reason in ten seconds, and then the number of the others. */
function bound(write: Line): Line {
  const counts = new Map<string, number>();
  return (message, fields = {}) => {
    const { error, reason = error instanceof Error && "reason" in error ? error.reason : "" } = fields;
    const key = `${message} ${String(reason)}`;
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    if (count < linesMax) write(message, fields);
    if (count > 0) return;
    setTimeout(() => {
      const repeatedCount = counts.get(key)! - linesMax;
      counts.delete(key);
      if (repeatedCount > 0) write(message, { ...(reason === "" ? {} : { reason }), repeatedCount });
    }, foldMs).unref();
  };
}

/** Folds lines whose errors have the same stack. The texts may differ, because they may repeat what a caller sent. */
function fold(write: Log["error"]): Log["error"] {
  const foldedCounts = new Map<string, number>();
  const error: Log["error"] = (message, fields = {}) => {
    const { error: thrown } = fields;
    const key = `${message} ${thrown instanceof Error ? thrown.stack?.replace(thrown.message, "") : stringify(fields)}`;
    const foldedCount = foldedCounts.get(key);
    foldedCounts.set(key, foldedCount === undefined ? 0 : foldedCount + 1);
    if (foldedCount !== undefined) return;
    write(message, fields);
    setTimeout(() => {
      const count = foldedCounts.get(key)!;
      foldedCounts.delete(key);
      if (count > 0) error(message, { ...fields, foldedCount: count });
    }, foldMs).unref();
  };
  return error;
}

/** Whether it is an error whose message says what to do: where it was thrown is shown at `debug` alone. */
function isForOperators(value: unknown): value is Error {
  return value instanceof Error && "reason" in value;
}

/** An error without stacks, and in text without its causes: its own message says what matters about them. */
function brief(error: Error, format: "text" | "json"): unknown {
  if (format === "text") return error.message;
  const { stack: _stack, cause, ...fields } = errorFields(error) as LogFields & { readonly cause?: unknown };
  if (cause === undefined) return fields;
  return { ...fields, cause: cause instanceof Error ? brief(cause, format) : cause };
}

function toText(key: string, given: unknown): string {
  const value = roundedMs(key, redactField(key, given));
  const text = typeof value === "string" ? value : stringify(value);
  return ` ${key}=${/^[\w.:/@+-]+$/.test(text) ? text : printable(typeof value === "string" ? JSON.stringify(value) : text)}`;
}

function stringify(value: unknown): string {
  return JSON.stringify(value, (key, nested: unknown) => {
    if (typeof nested === "bigint") return String(nested);
    if (nested instanceof Error) return errorFields(nested);
    return roundedMs(key, redactField(key, nested));
  });
}

/** Rounds a length of time to microseconds, because no reader needs more digits. */
function roundedMs(key: string, value: unknown): unknown {
  return typeof value === "number" && key.endsWith("Ms") ? Math.round(value * 1_000) / 1_000 : value;
}

function errorFields(error: Error): LogFields {
  const { name, message, stack, cause } = error;
  const reason = "reason" in error ? { reason: error.reason } : {};
  return { name, ...reason, message, stack, ...(cause === undefined ? {} : { cause }) };
}

/** Escapes characters that a terminal would obey. JSON leaves C1 controls and line separators unescaped. */
function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u${code.toString(16).padStart(4, "0")}`;
  });
}
