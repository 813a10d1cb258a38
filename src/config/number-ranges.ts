import { type Setting, SettingError } from "./setting.ts";
import type { SettingBase } from "./setting-kinds.ts";

/**
 * A setting that takes a set of whole numbers, as numbers and ranges: `0-3,7`. Its value is sorted and has no repeats.
 */
export function numberRanges(base: SettingBase & { readonly countMax: number }): Setting<readonly number[]> {
  const { countMax, ...rest } = base;
  const hint = `numbers and ranges, such as 0-3,7, of ${countMax} numbers at most`;
  return {
    placeholder: "RANGES",
    ...rest,
    parse: (value) => {
      const numbers = new Set<number>();
      for (const part of value.split(",")) {
        const [, low, high = low] = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(part.trim()) ?? [];
        const [first, last] = [Number(low), Number(high)];
        if (low === undefined || !(first <= last) || last - first >= countMax) throw new SettingError(hint);
        for (let number = first; number <= last; number += 1) numbers.add(number);
      }
      if (numbers.size > countMax) throw new SettingError(hint);
      return [...numbers].toSorted((one, other) => one - other);
    },
    format: formatRanges,
  };
}

/** A range of whole numbers, both ends inclusive. */
interface NumberRange {
  readonly first: number;
  readonly last: number;
}

/** A setting that takes one range of whole numbers, such as `512-1023`, or a single number. */
export function numberRange(base: SettingBase): Setting<NumberRange> {
  return {
    placeholder: "RANGE",
    ...base,
    parse: (value) => {
      const [, low, high = low] = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(value) ?? [];
      const range = { first: Number(low), last: Number(high) };
      if (low === undefined || range.first > range.last) throw new SettingError("a range such as 512-1023");
      return range;
    },
    format: formatRange,
  };
}

/** `512-1023`. */
export function formatRange({ first, last }: NumberRange): string {
  return first === last ? `${first}` : `${first}-${last}`;
}

/** `0-3,7`. */
export function formatRanges(numbers: readonly number[]): string {
  const ranges: { first: number; last: number }[] = [];
  for (const number of numbers) {
    const range = ranges.at(-1);
    if (range !== undefined && number === range.last + 1) range.last = number;
    else ranges.push({ first: number, last: number });
  }
  return ranges.map(formatRange).join(",");
}
