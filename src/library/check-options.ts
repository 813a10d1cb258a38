import { IdError } from "../errors.ts";

/** The rule of one option. An option that is left out, or undefined, satisfies every rule. */
export interface OptionRule {
  readonly accepts: (value: unknown) => boolean;
  /** What to give: ends the sentence "Give ...". */
  readonly hint: string;
}

/** A length of time in milliseconds. */
export const lengthMs: OptionRule = {
  accepts: (value) => typeof value === "number" && value >= 0,
  hint: "a number of milliseconds, 0 or more",
};

/** A whole number from 0 on, such as an ID of a worker. */
export const whole: OptionRule = {
  accepts: (value) => Number.isSafeInteger(value) && Number(value) >= 0,
  hint: "a whole number, 0 or more",
};

/** IDs of datacenters. */
export const wholes: OptionRule = {
  accepts: (value) => Array.isArray(value) && value.length > 0 && value.every((id) => whole.accepts(id)),
  hint: "an array of whole numbers, each 0 or more",
};

/** The first and the last of some IDs, such as those of workers. */
export const wholeRange: OptionRule = {
  accepts: (value) =>
    typeof value === "object" &&
    value !== null &&
    ["first", "last"].every((end) => whole.accepts(Object.getOwnPropertyDescriptor(value, end)?.value)),
  hint: "an object with first and last, whole numbers of 0 or more",
};

/** A text that is not empty. */
export const text: OptionRule = {
  accepts: (value) => typeof value === "string" && value !== "",
  hint: "a string that is not empty",
};

/** The choice between the members of a list. */
export function oneOf(names: readonly string[]): OptionRule {
  return { accepts: (value) => names.some((name) => name === value), hint: `one of ${names.join(", ")}` };
}

/**
 * Checks options from a program that may not have been type-checked, and reports all wrong ones together.
 *
 * @throws IdError INVALID_CONFIG: a line for each option that breaks its rule or does not exist.
 */
export function checkOptions<Options extends object>(
  options: Options,
  rules: Readonly<Record<keyof Options, OptionRule>>,
): void {
  if (typeof options !== "object" || options === null) {
    throw new IdError("INVALID_CONFIG", "Give the options as one object.", { metadata: { setting: "options" } });
  }
  const known: Readonly<Record<string, OptionRule>> = rules;
  const wrong = Object.entries(options).filter(([name, value]) => {
    return !Object.hasOwn(known, name) || (value !== undefined && known[name]?.accepts(value) === false);
  });
  if (wrong.length === 0) return;
  const lines = wrong.map(([name, value]) =>
    Object.hasOwn(known, name)
      ? `${name} is ${shown(name, value)}. Give ${known[name]?.hint}.`
      : `There is no option ${name}. There are: ${Object.keys(rules).join(", ")}.`,
  );
  const metadata = Object.fromEntries(wrong.map(([name, value]) => [name, shown(name, value)]));
  throw new IdError("INVALID_CONFIG", lines.join("\n"), { metadata });
}

/**
 * A value in the form that an error may show: a store's URL can contain a password, and objects are not informative.
 */
function shown(name: string, value: unknown): string {
  if (name.startsWith("store")) return `a ${typeof value}`;
  if (typeof value === "number" || typeof value === "boolean" || typeof value === "bigint") return String(value);
  return typeof value === "string" ? JSON.stringify(value) : `a value of the type ${typeof value}`;
}
