import { type Setting, SettingError } from "./setting.ts";
import type { SettingBase } from "./setting-kinds.ts";

/** A setting that takes a set of whole numbers, as numbers and ranges: `0-3,7`. Its value rises and repeats nothing. */
export function numberRanges(base: SettingBase & { readonly countMax: number }): Setting<readonly number[]> {
  const { countMax, ...rest } = base;
  const cure = `numbers and ranges, such as 0-3,7, of ${countMax} numbers at most`;
  return {
    placeholder: "RANGES",
    ...rest,
    parse: (value) => {
      const numbers = new Set<number>();
      for (const part of value.split(",")) {
        const [, low, high = low] = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(part.trim()) ?? [];
        const [first, last] = [Number(low), Number(high)];
        if (low === undefined || !(first <= last) || last - first >= countMax) throw new SettingError(cure);
        for (let number = first; number <= last; number += 1) numbers.add(number);
      }
      if (numbers.size > countMax) throw new SettingError(cure);
      return [...numbers].toSorted((one, other) => one - other);
    },
    format: formatRanges,
  };
}

/** `0-3,7`. */
export function formatRanges(numbers: readonly number[]): string {
  const ranges: { first: number; last: number }[] = [];
  for (const number of numbers) {
    const range = ranges.at(-1);
    if (range !== undefined && number === range.last + 1) range.last = number;
    else ranges.push({ first: number, last: number });
  }
  return ranges.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)).join(",");
}
