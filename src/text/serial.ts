import { composeId, type Layout, msToTicksUp, ticksToMsDown } from "../snowflake/layout.ts";
import { type CivilTime, civilFromSeconds, lastDayOfMonth, secondsFromCivil } from "./civil-time.ts";
import { createIdReader } from "./id-parts.ts";
import { malformedText, type TextFault } from "./malformed-text.ts";
import { invalidTextFormat, serialPrefixLengthMax } from "./text-form.ts";
import { nsPerMs } from "../snowflake/nanoseconds.ts";

/** Serial numbers of one layout. */
export interface SerialCodec {
  /**
   * Digits after the prefix; the same for every ID of the layout, which distinguishes them from a prefix that ends in
   * digits.
   */
  readonly digitCount: number;
  /**
   * Writes an ID as `{prefix}{time}{worker}{sequence}`. The prefix and the offset must be in their ranges.
   *
   * @throws IdError MALFORMED_ID, INVALID_TEXT_FORMAT (the offset moves the time out of the years 0 to 9999).
   */
  write(id: bigint, prefix: string, utcOffsetMinutes: number): string;
  /**
   * Reads what `write` writes with the same offset, and nothing else.
   *
   * @throws IdError MALFORMED_TEXT: character, too_short, too_long, date, tick, out_of_range.
   */
  read(text: string, utcOffsetMinutes: number): { readonly id: bigint; readonly prefix: string };
}

const dateLength = "yyyyMMddHHmmss".length;
const groupLengthMin = 4;
const twoDigits = Array.from({ length: 100 }, (_, i) => String(i).padStart(2, "0"));

/**
 * Makes the serial numbers of a layout. The time is `yyyyMMddHHmmss` and as many digits of the second as tell two ticks
 * apart: none for ticks of 1 s or more, then 1, 2 and 3 for 100, 10 and 1 ms. Below 1 ms the number of the tick within
 * its millisecond follows. Worker (`datacenter ID * 2^workerBits + worker ID`) and sequence take 4 digits each, or as
 * many as their highest value needs. docs/adr/0031 says why the digits are divided so.
 */
export function createSerialCodec(layout: Layout): SerialCodec {
  const tickMs = layout.tickNs / nsPerMs;
  const unitMs = [1_000, 100, 10].find((ms) => tickMs >= ms) ?? 1;
  const unitsPerSecond = 1_000 / unitMs;
  const unitLength = Math.log10(unitsPerSecond);
  const ticksPerMs = tickMs < 1 ? nsPerMs / layout.tickNs : 1;
  const tickLength = ticksPerMs > 1 ? lengthOf(ticksPerMs - 1) : 0;
  const workerLength = Math.max(groupLengthMin, lengthOf(layout.workerCount - 1));
  const sequenceLength = Math.max(groupLengthMin, lengthOf(layout.sequence.max));
  const ids = createIdReader(layout);
  const workerRange = layout.worker.max + 1;
  const timeLength = dateLength + unitLength + tickLength;
  const digitCount = timeLength + workerLength + sequenceLength;

  // IDs come in the order of time: the date is kept for the next one.
  let dateSeconds = Number.NaN;
  let date = "";
  const write = (id: bigint, prefix: string, utcOffsetMinutes: number): string => {
    const { ticks, datacenterId, workerId, sequence } = ids.read(id);
    const units = Math.floor(ticksToMsDown(layout, ticks) / unitMs) + utcOffsetMinutes * 60 * unitsPerSecond;
    const seconds = Math.floor(units / unitsPerSecond);
    if (seconds !== dateSeconds) {
      date = writeDate(civilFromSeconds(seconds));
      dateSeconds = seconds;
    }
    const time = date + pad(units - seconds * unitsPerSecond, unitLength);
    const tick = pad(ticks % ticksPerMs, tickLength);
    const worker = pad(datacenterId * workerRange + workerId, workerLength);
    return prefix + time + tick + worker + pad(sequence, sequenceLength);
  };

  const read = (text: string, utcOffsetMinutes: number): { id: bigint; prefix: string } => {
    const start = checkShape(text, digitCount);
    const number = (offset: number, length: number): number =>
      length === 0 ? 0 : Number(text.slice(start + offset, start + offset + length));
    const units = number(dateLength, unitLength);
    const timeMs = (readDate(text, start) - utcOffsetMinutes * 60) * 1_000 + units * unitMs;
    const wholeTicks = msToTicksUp(layout, timeMs);
    const tickOfMs = number(dateLength + unitLength, tickLength);
    if (tickOfMs >= ticksPerMs) throw malformedText("serial", "tick", start + dateLength + unitLength);
    const ticks = wholeTicks + tickOfMs;
    const isOfLayout = ticks >= 0 && ticks <= layout.timestamp.max;
    if (!isOfLayout || ticksToMsDown(layout, wholeTicks) >= timeMs + unitMs)
      throw malformedText("serial", "tick", start);
    const worker = number(timeLength, workerLength);
    if (worker >= layout.workerCount) throw malformedText("serial", "out_of_range", start + timeLength);
    const sequence = number(timeLength + workerLength, sequenceLength);
    if (sequence > layout.sequence.max)
      throw malformedText("serial", "out_of_range", start + timeLength + workerLength);
    const datacenterId = Math.floor(worker / workerRange);
    const id = composeId(layout, { ticks, datacenterId, workerId: worker - datacenterId * workerRange, sequence });
    return { id, prefix: text.slice(0, start) };
  };

  return { digitCount, write, read };
}

/** Digits of a whole number that is not negative. */
function lengthOf(number: number): number {
  return String(number).length;
}

function pad(number: number, length: number): string {
  return length === 0 ? "" : String(number).padStart(length, "0");
}

function writeDate({ year, month, day, hour, minute, second }: CivilTime): string {
  if (year < 0 || year > 9_999) throw invalidTextFormat(`The offset moves the time into the year ${year}.`, { year });
  const century = Math.floor(year / 100);
  const date = twoDigits[century]! + twoDigits[year - century * 100]! + twoDigits[month]! + twoDigits[day]!;
  return date + twoDigits[hour]! + twoDigits[minute]! + twoDigits[second]!;
}

/**
 * Where the digits begin. All characters are checked before the length is: only then do bytes, UTF-16 units and code
 * points agree on how many digits there are.
 */
function checkShape(text: string, digitCount: number): number {
  const lengthMax = serialPrefixLengthMax + digitCount;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const isDigit = code >= 48 && code <= 57;
    if (i === lengthMax) throw malformedText("serial", "too_long", i);
    if (!isDigit && (code < 65 || code > 90)) throw malformedText("serial", "character", i);
  }
  if (text.length < digitCount) throw malformedText("serial", "too_short", text.length);
  const start = text.length - digitCount;
  for (let i = start; i < text.length; i++) {
    if (text.charCodeAt(i) > 57) throw malformedText("serial", "character", i);
  }
  return start;
}

/** Seconds since 1970 of the `yyyyMMddHHmmss` at `start`, which are digits. */
function readDate(text: string, start: number): number {
  const number = (offset: number, length: number): number =>
    Number(text.slice(start + offset, start + offset + length));
  const year = number(0, 4);
  const month = number(4, 2);
  const day = number(6, 2);
  const hour = number(8, 2);
  const minute = number(10, 2);
  const second = number(12, 2);
  const fault: TextFault = "date";
  if (month < 1 || month > 12) throw malformedText("serial", fault, start + 4);
  if (day < 1 || day > lastDayOfMonth(year, month)) throw malformedText("serial", fault, start + 6);
  if (hour > 23) throw malformedText("serial", fault, start + 8);
  if (minute > 59) throw malformedText("serial", fault, start + 10);
  if (second > 59) throw malformedText("serial", fault, start + 12);
  return secondsFromCivil({ year, month, day, hour, minute, second });
}
