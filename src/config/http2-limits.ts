import { createLimits, type LimitName, type Limits, limitTable } from "../http2/limits.ts";
import { type Setting, SettingError } from "./setting.ts";
import type { SettingBase } from "./setting-kinds.ts";

/** Limits that have a setting of their own. */
const givenElsewhere: Readonly<Partial<Record<LimitName, string>>> = {
  stallTimeoutMs: "--stall-timeout",
  drainTimeoutMs: "--drain-timeout",
};

/** A setting that takes limits of the HTTP/2 engine: `NAME=NUMBER`, several separated by commas. */
export function http2Limits(base: SettingBase): Setting<Partial<Limits>> {
  return {
    placeholder: "NAME=NUMBER,...",
    ...base,
    parse: (text) => {
      if (text === "none") return {};
      const limits = Object.fromEntries(text.split(",").map(parseLimit));
      try {
        createLimits(limits);
      } catch (error) {
        throw new SettingError(`limits in their range: ${(error as Error).message}`);
      }
      return limits;
    },
    format: (limits) =>
      Object.entries(limits)
        .map(([name, value]) => `${name}=${value === Infinity ? "off" : value}`)
        .join(",") || "none",
  };
}

function parseLimit(text: string): readonly [name: string, value: number] {
  const [, name = "", value = ""] = /^(\w+)=(\d{1,12}|off)$/.exec(text.trim()) ?? [];
  if (!Object.hasOwn(limitTable, name)) throw new SettingError(`NAME=NUMBER, with a name from docs/http2.md`);
  const elsewhere = givenElsewhere[name as LimitName];
  if (elsewhere !== undefined) throw new SettingError(`${name} by ${elsewhere}`);
  return [name, value === "off" ? Infinity : Number(value)];
}
