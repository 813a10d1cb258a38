import { type Setting, SettingError } from "../../config/setting.ts";
import type { SettingBase } from "../../config/setting-kinds.ts";
import { CommandError, exitCodes } from "../exit-code.ts";

/** A setting that takes a value of a sequence, or a number of values: `min`, 1 by default, to 2^63 - 1. */
export function wholeNumber({ min = 1n, ...base }: SettingBase & { readonly min?: bigint }): Setting<bigint> {
  return {
    placeholder: "N",
    ...base,
    parse: (text) => {
      const value = /^\d{1,19}$/.test(text) ? BigInt(text) : -1n;
      if (value < min || value >= 2n ** 63n) throw new SettingError(`a whole number from ${min} to 2^63 - 1`);
      return value;
    },
    format: String,
  };
}

/** The one argument of a command: the name of a sequence. @throws CommandError. */
export function nameFrom(positionals: readonly string[]): string {
  const [name, ...more] = positionals;
  if (name !== undefined && more.length === 0) return name;
  const message = name === undefined ? "Give the name of a sequence." : `Give one name: leave out ${more.join(" ")}.`;
  throw new CommandError(message, exitCodes.usage);
}

/** How the commands of one sequence describe their argument. */
export const namePositional = { placeholder: "NAME", doc: "NAME is the name of the sequence." } as const;
