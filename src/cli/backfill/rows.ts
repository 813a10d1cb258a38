import { lengthOfTime } from "../../clock/length-of-time.ts";
import { timeText } from "../../lease/records/time-text.ts";
import { type Layout, ticksToMsDown } from "../../snowflake/layout.ts";
import { CommandError, exitCodes } from "../exit-code.ts";
import { type RawRecord, recordsOf } from "./row-records.ts";
import type { RowFormat } from "./row-format.ts";
import type { RowTime } from "./row-time.ts";

/** The rules that rows keep. Times are Unix milliseconds. */
export interface RowRules {
  /** The layout by whose tick and epoch a row's time becomes a tick. */
  readonly layout: Layout;
  /** Finds the time in a row, and puts the ID into it. */
  readonly format: RowFormat;
  /** Reads the text of a row's time. */
  readonly time: RowTime;
  /** No row may be older; at least the time of the layout's epoch. */
  readonly fromMs: number;
  /** Every row must be older. */
  readonly untilMs: number;
  /** By how much a row may be older than one before it. */
  readonly lagMaxMs: number;
}

/** A record of a file: a row with its tick, one that is passed on as it is, or one that gets no ID. */
export type Row =
  | { readonly kind: "row"; readonly text: string; readonly tick: number; readonly line: number }
  | { readonly kind: "pass"; readonly text: string }
  | { readonly kind: "bad"; readonly text: string; readonly line: number; readonly problem: string };

/**
 * Reads the rows of a file, many at a time.
 *
 * @throws CommandError where the header is bad, or the rows are not sorted.
 */
export async function* rowsOf(chunks: AsyncIterable<string>, rules: RowRules): AsyncGenerator<readonly Row[]> {
  const { format } = rules;
  const order = new OrderCheck(rules);
  let needsHeader = format.readHeader !== undefined;
  /** Empty lines are passed on at the end of the file, and bad elsewhere. */
  let empty: Row[] = [];
  for await (const records of recordsOf(chunks, format.isQuoted)) {
    const rows: Row[] = [];
    for (const record of records) {
      if (needsHeader) {
        needsHeader = false;
        rows.push({ kind: "pass", text: headerOf(record, format) });
      } else if (/^\r?\n$/.test(record.text)) {
        empty.push({ kind: "bad", ...record, problem: "is empty" });
      } else {
        rows.push(...empty, readRow(record, rules, order));
        empty = [];
      }
    }
    yield rows;
  }
  if (needsHeader)
    throw new CommandError("The input is empty: it has no line with the names of its columns.", exitCodes.refused);
  yield empty.map(({ text }) => ({ kind: "pass", text }));
}

function headerOf({ text }: RawRecord, format: RowFormat): string {
  const header = format.readHeader!(text);
  if (header.kind === "good") return header.text;
  throw new CommandError(`Line 1 ${header.problem}.`, exitCodes.usage);
}

function readRow({ text, line }: RawRecord, rules: RowRules, order: OrderCheck): Row {
  const part = rules.format.timeOf(text);
  const problem = part.kind === "bad" ? part.problem : timeProblem(part.text, rules);
  if (problem !== undefined) return { kind: "bad", text, line, problem };
  const tick = rules.time.tickIn(rules.layout);
  order.check(line, rules.time.unixMs);
  return { kind: "row", text, tick, line };
}

function timeProblem(text: string, { time, layout, fromMs, untilMs }: RowRules): string | undefined {
  const problem = time.read(text);
  if (problem !== undefined) return `${JSON.stringify(text.slice(0, 60))} ${problem}`;
  const { unixMs } = time;
  const shown = timeText(unixMs);
  if (unixMs < layout.epochMs) return `${shown} is before the epoch of the layout, ${timeText(layout.epochMs)}`;
  if (unixMs >= layout.endMs) return `${shown} is after the end of the layout, ${timeText(layout.endMs)}`;
  if (unixMs < fromMs) return `${shown} is before ${timeText(fromMs)}`;
  if (unixMs >= untilMs) return `${shown} is not before ${timeText(untilMs)}`;
  return undefined;
}

/** Checks that rows are sorted, to within the lag. */
class OrderCheck {
  readonly #lagMaxMs: number;
  #newestMs = Number.NEGATIVE_INFINITY;
  #newestLine = 0;

  constructor({ lagMaxMs }: RowRules) {
    this.#lagMaxMs = lagMaxMs;
  }

  /** @throws CommandError. */
  check(line: number, unixMs: number): void {
    if (unixMs >= this.#newestMs) {
      this.#newestMs = unixMs;
      this.#newestLine = line;
    } else if (this.#newestMs - unixMs > this.#lagMaxMs) {
      const age = lengthOfTime(this.#newestMs - unixMs);
      const message = `Line ${line} is ${age} older than line ${this.#newestLine}: sort the input by time. (An hour that occurs twice in autumn is read as the second one.)`;
      throw new CommandError(message, exitCodes.refused);
    }
  }
}

/** How much later than its row an ID may be, in ticks. */
export function lagTicks(layout: Layout, lagMaxMs: number): number {
  return Math.max(1, Math.floor((lagMaxMs * 1_000_000) / layout.tickNs));
}

/** A number of ticks as a length of time: `48 ms`, `3 h 5 min`. */
export function lagText(layout: Layout, ticks: number): string {
  const ms = ticksToMsDown({ epochMs: 0, tickNs: layout.tickNs }, ticks);
  return ms < 1_000 ? `${ms} ms` : lengthOfTime(ms);
}
