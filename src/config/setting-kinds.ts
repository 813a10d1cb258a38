import { groupDigits } from "../text/group-digits.ts";
import { type Setting, SettingError } from "./setting.ts";
import { suggestion } from "./suggestion.ts";

/** Fields that every kind of setting has. {@link Setting} has their meanings. */
export interface SettingBase {
  readonly name: string;
  readonly short?: string;
  readonly namesElsewhere?: readonly string[];
  readonly placeholder?: string;
  readonly doc: string;
}

/** A setting that takes any text that `pattern` matches; `hint` describes such a text in words. */
export function text(
  base: SettingBase & {
    readonly words?: readonly string[];
    readonly pattern?: RegExp;
    readonly hint?: string;
    readonly redact?: (text: string) => string;
  },
): Setting<string> {
  const { pattern, hint, ...rest } = base;
  return {
    placeholder: "TEXT",
    ...rest,
    parse: (value) => {
      if (value === "" || (pattern !== undefined && !pattern.test(value))) throw new SettingError(hint ?? "a string");
      return value;
    },
    format: (value) => value,
  };
}

/** A setting that takes a whole number, both ends inclusive. */
export function integer(base: SettingBase & { readonly min: number; readonly max: number }): Setting<number> {
  const { min, max, ...rest } = base;
  return {
    placeholder: "N",
    ...rest,
    range: { min, max },
    doc: `${base.doc} ${groupDigits(min)} to ${groupDigits(max)}.`,
    parse: (value) => {
      const parsed = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
      if (!(parsed >= min && parsed <= max)) throw new SettingError(`a whole number from ${min} to ${max}`);
      return parsed;
    },
    format: String,
  };
}

/** A setting that takes one of a few words. */
export function choice<const T extends string>(base: SettingBase & { readonly words: readonly T[] }): Setting<T> {
  const { words } = base;
  return {
    placeholder: words.join("|"),
    ...base,
    parse: (value) => {
      const word = words.find((candidate) => candidate === value);
      if (word === undefined) {
        const known = words.length === 1 ? words.join() : `one of ${words.join(", ")}`;
        const guess = suggestion(value, words);
        throw new SettingError(guess === "" ? known : `Give ${known}.${guess}`);
      }
      return word;
    },
    format: (value) => value,
  };
}

/** A setting that is either given or not: on the command line without a value, elsewhere `true` or `false`. */
export function onOff(base: SettingBase): Setting<boolean> & { readonly fallback: boolean } {
  return {
    ...base,
    placeholder: "",
    fallback: false,
    parse: (value) => {
      if (value !== "true" && value !== "false") throw new SettingError("true or false");
      return value === "true";
    },
    format: String,
  };
}

/** A setting that takes the mode of a file: three octal digits, with a 0 before them or without. */
export function octalMode(base: SettingBase): Setting<number> {
  return {
    placeholder: "MODE",
    ...base,
    parse: (value) => {
      if (!/^0?[0-7]{3}$/.test(value)) throw new SettingError("three octal digits, such as 0660");
      return Number.parseInt(value, 8);
    },
    format: (mode) => `0${mode.toString(8).padStart(3, "0")}`,
  };
}

/** A setting that takes a time span in milliseconds, both ends inclusive: `500ms`, `10s`, `5m`, `1h`. */
export function duration(base: SettingBase & { readonly minMs: number; readonly maxMs: number }): Setting<number> {
  const { minMs, maxMs, ...rest } = base;
  const range = `${formatSpan(minMs * 1e6)} to ${formatSpan(maxMs * 1e6)}`;
  return {
    placeholder: "SPAN",
    ...rest,
    doc: `${base.doc} ${range}.`,
    parse: (value) => {
      const ms = parseSpan(value) / 1e6;
      if (!(ms >= minMs && ms <= maxMs) || !Number.isInteger(ms)) {
        throw new SettingError(`a number with ms, s, m or h, from ${range}`);
      }
      return ms;
    },
    format: (value) => formatSpan(value * 1e6),
  };
}

/** A setting that takes a tick in nanoseconds: `1us`, `10ms`, `1s`. The layout checks its range. */
export function tick(base: SettingBase): Setting<number> {
  return {
    placeholder: "SPAN",
    ...base,
    parse: (value) => {
      const ns = parseSpan(value);
      if (!Number.isSafeInteger(ns)) throw new SettingError("a number with us, ms, s, m or h");
      return ns;
    },
    format: formatSpan,
  };
}

/**
 * A setting that takes a moment, in Unix milliseconds: RFC 3339 with an offset (`2020-01-01T00:00:00Z`), or a date,
 * which means 00:00 UTC.
 */
export function moment(base: SettingBase): Setting<number> {
  return {
    placeholder: "TIME",
    ...base,
    parse: (value) => {
      const matches = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/.test(value);
      const ms = matches && isOfCalendar(value.slice(0, 10)) ? Date.parse(value) : Number.NaN;
      if (Number.isNaN(ms)) throw new SettingError("a date, or a time with its offset such as 2020-01-01T00:00:00Z");
      return ms;
    },
    format: (value) => new Date(value).toISOString(),
  };
}

/** Tells whether a date, `YYYY-MM-DD`, is one: JavaScript reads 30 February as 2 March. */
export function isOfCalendar(date: string): boolean {
  const ms = Date.parse(date);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(date);
}

const unitsNs: readonly (readonly [string, number])[] = [
  ["h", 3.6e12],
  ["m", 6e10],
  ["s", 1e9],
  ["ms", 1e6],
  ["us", 1e3],
  ["ns", 1],
];

/** NaN where `value` is not a span. */
function parseSpan(value: string): number {
  const [, digits, unit] = /^(\d{1,12})(h|m|s|ms|us|ns)$/.exec(value) ?? [];
  const unitNs = unitsNs.find(([name]) => name === unit)?.[1];
  return digits === undefined || unitNs === undefined ? Number.NaN : Number(digits) * unitNs;
}

/** The shortest spelling of a span: `90s`, `1h`. */
export function formatSpan(ns: number): string {
  if (ns === 0) return "0s";
  const [name, unitNs] = unitsNs.find(([, size]) => ns >= size && ns % size === 0) ?? ["ns", 1];
  return `${ns / unitNs}${name}`;
}
