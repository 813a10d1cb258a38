import type { ListChoice } from "../state.ts";
import { isWithin, laneKey } from "./list-analysis.ts";
import type { ListRow } from "./list-rows.ts";

/** Rows that are drawn between two frames. */
export const pieceSize = 100;

/**
 * Gives the rows that a choice shows, in its order, in pieces of {@link pieceSize}.
 *
 * @param workerWords - The words that stand for a worker in a filter, in lower-case letters.
 */
export function chooseRows(
  pieces: readonly (readonly ListRow[])[],
  { column, direction, filter, span, rows: which }: ListChoice,
  workerWords: readonly string[],
): readonly (readonly ListRow[])[] {
  const isAll = filter.trim() === "" && span === undefined && which === "all";
  if (column === "row" && direction === "up" && isAll) return pieces;
  const all = pieces.flat();
  const odd = which === "odd" ? oddRows(all) : all;
  const isWanted = filterOf(filter.trim().toLowerCase(), workerWords);
  const wanted = odd.filter((row) => isWanted(row) && (span === undefined || isWithin(row, span)));
  const keyOf = keys[column];
  const sign = direction === "up" ? 1 : -1;
  const ordered = wanted
    .map((row) => ({ row, key: keyOf(row) }))
    .toSorted((one, other) => sign * compare(one.key, other.key) || one.row.index - other.row.index)
    .map(({ row }) => row);
  const count = Math.ceil(ordered.length / pieceSize);
  return Array.from({ length: count }, (_, index) => ordered.slice(index * pieceSize, (index + 1) * pieceSize));
}

function isOdd(row: ListRow | undefined): boolean {
  return row !== undefined && (row.isCopy || row.breakMs > 0);
}

/** Copies and rows out of order, each with the rows beside it. */
function oddRows(rows: readonly ListRow[]): readonly ListRow[] {
  return rows.filter((row, index) => isOdd(row) || isOdd(rows[index - 1]) || isOdd(rows[index + 1]));
}

type Key = number | bigint | string | undefined;

const partsOf = ({ entry: { reading } }: ListRow) => (reading.kind === "read" ? reading.source.parsed : undefined);

const keys: Readonly<Record<ListChoice["column"], (row: ListRow) => Key>> = {
  row: ({ index }) => index,
  id: (row) => partsOf(row)?.id,
  time: ({ timeMs }) => timeMs,
  worker: (row) => {
    const { datacenterId = 0, workerId } = partsOf(row) ?? {};
    return workerId === undefined ? undefined : datacenterId * 2 ** 32 + workerId;
  },
  sequence: (row) => partsOf(row)?.sequence,
  gap: ({ gapMs }) => gapMs,
};

/** Rows without a value come last going up. */
function compare(one: Key, other: Key): number {
  if (one === other) return 0;
  if (one === undefined) return 1;
  if (other === undefined) return -1;
  return one < other ? -1 : 1;
}

/**
 * Makes the test of a filter: `worker 3` or `worker 2/3` wants the IDs of that worker; any other word wants rows whose
 * text or whose time has it.
 */
function filterOf(filter: string, workerWords: readonly string[]): (row: ListRow) => boolean {
  const [, word = "", datacenter, worker] = /^(\D+?)\s+(?:(\d+)\s*\/\s*)?(\d+)$/u.exec(filter) ?? [];
  if (worker !== undefined && workerWords.includes(word))
    return (row) => {
      const [ownDatacenter, ownWorker] = laneKey(row).split("/");
      return ownWorker === worker && (datacenter === undefined || ownDatacenter === datacenter);
    };
  const words = filter.split(/\s+/);
  return ({ entry, timeMs }) => {
    const time = timeMs === undefined ? "" : new Date(timeMs).toISOString();
    const text = `${entry.reading.line} ${time}`.toLowerCase();
    return words.every((each) => text.includes(each));
  };
}
