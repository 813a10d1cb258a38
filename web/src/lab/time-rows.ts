import type { CopyRow } from "./copy-rows.ts";
import { isoOfNs } from "../../../src/snowflake/iso-time.ts";
import type { Texts } from "../texts/en.ts";
import { msOf } from "../time-words.ts";

/** The last millisecond of the year 9999, where ISO 8601 has no year of four digits any more. */
const isoLastMs = 253_402_300_799_999;

/** A moment as people write it down: each row is copied by a press. */
export function timeRows(timeNs: bigint, texts: Texts): readonly CopyRow[] {
  const { times } = texts.parse;
  const ms = msOf(timeNs);
  const isDate = ms >= -isoLastMs && ms <= isoLastMs;
  const iso = isDate ? isoOfNs(timeNs) : undefined;
  const rows: readonly (readonly [key: string, label: string, text: string | undefined])[] = [
    ["local", times.local, isDate ? localTime(ms) : undefined],
    ["utc", times.utc, iso?.slice(0, -1).replace("T", " ")],
    ["iso", times.iso, iso],
    ["unix-ms", times.unixMs, String(ms)],
    ["unix-s", times.unixS, String(Math.floor(ms / 1_000))],
  ];
  return rows.flatMap(([key, label, text]) => (text === undefined ? [] : [{ key, label, text }]));
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}

/** The time where the reader is, with its distance from UTC on that day: `2022-06-28 19:07:40.105 +03:00`. */
function localTime(unixMs: number): string {
  const offsetMinutes = -new Date(unixMs).getTimezoneOffset();
  const local = new Date(unixMs + offsetMinutes * 60_000).toISOString().slice(0, -1).replace("T", " ");
  const [hours, minutes] = [Math.floor(Math.abs(offsetMinutes) / 60), Math.abs(offsetMinutes) % 60];
  return `${local} ${offsetMinutes < 0 ? "-" : "+"}${two(hours)}:${two(minutes)}`;
}
