import type { Entry, ReadLines } from "../state.ts";
import { msOf } from "../time-words.ts";

/** A row of the list: an ID, or a line that holds none, with what is known of it beside the rows before it. */
export interface ListRow {
  /** From 0 on. */
  readonly index: number;
  readonly entry: Entry;
  /** Its place among the IDs of the text; undefined for a line that holds none. */
  readonly idIndex: number | undefined;
  /** Unix milliseconds; undefined where the text shows no time. */
  readonly timeMs: number | undefined;
  /** From the time of the latest row before it that has one; undefined for the first. */
  readonly gapMs: number | undefined;
  /** Whether an earlier row holds the same ID. */
  readonly isCopy: boolean;
  /** How much earlier it is than the latest row before it; 0 where that is within the slack. */
  readonly breakMs: number;
}

/** The rows of a text that is being read: each piece is taken once, because what is before it does not change. */
class RowReader {
  readonly pieces: (readonly ListRow[])[] = [];
  readonly slackMs: number;
  readonly #seen = new Set<string>();
  #count = 0;
  #idCount = 0;
  #latestMs = Number.NEGATIVE_INFINITY;
  #beforeMs: number | undefined;

  constructor(slackMs: number) {
    this.slackMs = slackMs;
  }

  take(piece: readonly Entry[]): void {
    this.pieces.push(piece.map((entry) => this.#row(entry)));
  }

  #row(entry: Entry): ListRow {
    const { reading, find } = entry;
    const isId = reading.kind === "read";
    const timeMs = timeOf(entry);
    const key = isId ? String(reading.source.parsed?.id ?? reading.line) : "";
    const isCopy = isId && this.#seen.has(key);
    if (isId) this.#seen.add(key);
    const behindMs = timeMs === undefined ? 0 : this.#latestMs - timeMs;
    const row: ListRow = {
      index: this.#count++,
      entry,
      idIndex: isId || find !== undefined ? this.#idCount++ : undefined,
      timeMs,
      gapMs: timeMs === undefined || this.#beforeMs === undefined ? undefined : timeMs - this.#beforeMs,
      isCopy,
      breakMs: !isCopy && behindMs > this.slackMs ? behindMs : 0,
    };
    if (timeMs !== undefined) {
      this.#beforeMs = timeMs;
      this.#latestMs = Math.max(this.#latestMs, timeMs);
    }
    return row;
  }
}

/** When an entry's ID was made, Unix milliseconds. */
function timeOf({ reading }: Entry): number | undefined {
  if (reading.kind === "refused") return undefined;
  const { parsed, uuid, foreign } = reading.source;
  const timeNs = parsed?.createTimeNs ?? uuid?.createTimeNs ?? foreign?.createTimeNs;
  return timeNs === undefined ? undefined : msOf(timeNs);
}

const readers = new WeakMap<readonly Entry[], RowReader>();

/**
 * Gives the rows of the lines that are read by now, in their pieces: the same objects as long as neither the lines nor
 * the slack change.
 *
 * @param slackMs - A row that is earlier than the latest one before it by more is out of order.
 */
export function rowsOf({ pieces }: ReadLines, slackMs: number): readonly (readonly ListRow[])[] {
  const [first] = pieces;
  if (first === undefined) return [];
  let reader = readers.get(first);
  if (reader?.slackMs !== slackMs) {
    reader = new RowReader(slackMs);
    readers.set(first, reader);
  }
  for (const piece of pieces.slice(reader.pieces.length)) reader.take(piece);
  return reader.pieces;
}
