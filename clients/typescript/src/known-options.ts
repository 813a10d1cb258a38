/** Options from callers without types: their names, and what their values must be. */
import { suggestion } from "../../../src/config/suggestion.ts";

/** What the value of an option must be. */
export interface OptionKind {
  /** Follows "must be" in messages. */
  readonly what: string;
  readonly accepts: (value: unknown) => boolean;
}

/** What each option must be. An option that is undefined keeps its default. */
export type OptionKinds<Options> = Readonly<Record<keyof Options, OptionKind>>;

/** The kinds of options, each of which several lists of options have. */
export const kinds = {
  /** For options with a check and a message of their own. */
  checkedElsewhere: { what: "", accepts: () => true },
  string: { what: "a string", accepts: (value) => typeof value === "string" },
  flag: { what: "true or false", accepts: (value) => typeof value === "boolean" },
  milliseconds: { what: "a number of milliseconds", accepts: (value) => typeof value === "number" },
  random: { what: "a function", accepts: (value) => typeof value === "function" },
  /** Not by its class: a frame, or a test's window, has one of its own. */
  signal: { what: "an AbortSignal", accepts: (value) => hasMethods(value, ["addEventListener", "throwIfAborted"]) },
  observer: { what: "an object with methods of ClientObserver", accepts: (value) => hasMethods(value, []) },
  logger: {
    what: "an object with info, warn and error, such as console",
    accepts: (value) => hasMethods(value, ["info", "warn", "error"]),
  },
  clock: {
    what: "an object with the methods of Clock",
    accepts: (value) => hasMethods(value, ["monotonicMs", "wallMs", "schedule"]),
  },
} satisfies Record<string, OptionKind>;

/**
 * Refuses options that are not an object, unknown options, and options that are not what they must be: a misspelt one
 * would silently keep its default, and a wrong one would fail later, or never.
 *
 * @throws TypeError.
 */
export function checkOptionKinds(options: unknown, known: Readonly<Record<string, OptionKind>>): void {
  if (!isObject(options))
    throw new TypeError(`The options must be an object, such as { ${Object.keys(known)[0]}: ... }.`);
  for (const [name, value] of Object.entries(options)) {
    const kind = Object.hasOwn(known, name) ? known[name] : undefined;
    if (kind === undefined) throw new TypeError(`There is no option ${name}.${suggestion(name, Object.keys(known))}`);
    if (value !== undefined && !kind.accepts(value)) throw new TypeError(`${name} must be ${kind.what}.`);
  }
}

/** Whether a value is an object, and not an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function hasMethods(value: unknown, names: readonly string[]): boolean {
  return isObject(value) && names.every((name) => typeof value[name] === "function");
}
