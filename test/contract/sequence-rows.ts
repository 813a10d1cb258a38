/** The rows of a database of sequences in two namespaces, and how a test changes and reads them. */
import type { MovableStore } from "../../src/sequence/movable-store.ts";
import type { SequenceDefinition } from "../../src/sequence/sequence.ts";
import { tableNames } from "../../src/sequence/stores/migrations.ts";

/** A database of sequences, and a session on it beside the stores. */
export interface WritesWorld {
  open(namespace: string): Promise<MovableStore>;
  run(statement: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  close(): Promise<void>;
  /** Whether a call must not wait for rows of the neighbour that another transaction has locked. */
  readonly waitsForNone: boolean;
}

/** A call, the rows before it, and what it does. */
export interface WriteCase {
  /** What it shows. */
  readonly law: string;
  /** Changes of the first rows, as statements. @param nowMs - By the database's clock. */
  readonly given?: (nowMs: number) => readonly string[];
  readonly call: (store: MovableStore, nowMs: number) => Promise<unknown>;
  readonly answer: unknown;
  /** The cells that are changed, sorted: `TABLE KEY COLUMN BEFORE > AFTER`. None if absent. */
  readonly writes?: readonly string[];
  /** Some databases note a take in its witness row although nothing was taken. */
  readonly mayNote?: boolean;
}

export const ours = "ours";
/** A namespace with the same rows. */
export const neighbour = "neighbour";

/** A number above every time of the clock. */
export const far = 9_000_000_000_000_000;

/** A sequence each of whose cells differs from its default. */
export const definition: SequenceDefinition = {
  name: "new",
  description: "e",
  startValue: 2n,
  increment: 3n,
  valueMax: 999n,
  allocation: "strict",
  stepMin: 4,
  stepMax: 5,
  period: "quarter",
  timeZone: "Asia/Tokyo",
  textTemplate: "{yyyy}-{q}-{value}",
  disabled: true,
  yearStart: "04-01",
  lateMaxMs: 6,
};

/** A condition: the row is of one of the two. */
const isOfBoth = `namespace IN ('${ours}', '${neighbour}')`;

/** The tables, and the columns after the namespace that their rows are named by. */
export const tables = {
  sequence: { name: tableNames.sequence, key: ["name"] },
  counter: { name: tableNames.counter, key: ["name", "period_key"] },
  place: { name: tableNames.databases, key: [] },
  witness: { name: tableNames.witness, key: ["process_id", "line"] },
} as const;
type Table = keyof typeof tables;
export const tableList = Object.keys(tables) as readonly Table[];

/** A statement that changes a row of a table, of all namespaces or of one. The key is `NAME` or `NAME/PERIOD`. */
export function set(table: Table, key: string, change: string, namespace?: string): string {
  return `UPDATE ${tables[table].name} SET ${change} WHERE ${conditionOf(table, key, namespace)}`;
}

/** A statement that deletes rows of ours: one, or all. */
export function drop(table: Table, key?: string): string {
  const condition = key === undefined ? `namespace = '${ours}'` : conditionOf(table, key, ours);
  return `DELETE FROM ${tables[table].name} WHERE ${condition}`;
}

/** As {@link set}, of our namespace alone. */
export function setOurs(table: Table, key: string, change: string): string {
  return set(table, key, change, ours);
}

/** As {@link set}, of the neighbour alone. */
export function setTheirs(table: Table, key: string, change: string): string {
  return set(table, key, change, neighbour);
}

function conditionOf(table: Table, key: string, namespace?: string): string {
  const columns = tables[table].key.map((column, at) => `${column} = '${key.split("/")[at] ?? ""}'`);
  const isOf = namespace === undefined ? isOfBoth : `namespace = '${namespace}'`;
  return [isOf, ...columns].join(" AND ");
}

/** What keeps a database from giving values, for our namespace alone. */
export const closings: readonly (readonly [law: string, given: (nowMs: number) => string])[] = [
  ["while the database is stopped", () => setOurs("place", "", "stopped = 'x'")],
  ["under another revision", () => setOurs("place", "", "revision = 6")],
  ["under another identity", () => setOurs("place", "", "identity = 'other'")],
  ["before the opening", (nowMs) => setOurs("place", "", `open_ms = ${nowMs + 59_000}`)],
  ["without the row of the database", () => drop("place")],
];

type Cell = string | number | boolean;
type Row = Readonly<Record<string, Cell>>;

/** A statement that makes rows of a table, which have the same columns. */
function insert(table: Table, rows: readonly Row[]): string {
  const written = rows.map((row) => `(${Object.values(row).map(literal).join(", ")})`);
  return `INSERT INTO ${tables[table].name} (${Object.keys(rows[0]!).join(", ")}) VALUES ${written.join(", ")}`;
}

function literal(cell: Cell): string {
  if (typeof cell === "boolean") return cell ? "(1 = 1)" : "(1 = 0)";
  return typeof cell === "number" ? `${cell}` : `'${cell}'`;
}

/**
 * Statements that put the first rows of both namespaces in place of all others: two sequences without and with periods,
 * each beside one of the same content, and two processes. Those of the neighbour come first, so that a statement
 * without a key finds them first.
 */
export function putFirstRows(identity: string): readonly string[] {
  const both = [neighbour, ours].map((namespace) => firstRows(namespace, identity));
  return tableList.flatMap((table) => [
    `DELETE FROM ${tables[table].name} WHERE ${isOfBoth}`,
    insert(
      table,
      both.flatMap((rows) => rows[table]),
    ),
  ]);
}

function firstRows(namespace: string, identity: string): Readonly<Record<Table, readonly Row[]>> {
  const definition = {
    start_value: 1,
    increment: 1,
    value_max: 1_000,
    allocation: "segments",
    step_min: 1,
    step_max: 100,
    time_zone: "UTC",
    text_template: "",
    description: "d",
    disabled: false,
    created_ms: 1,
    updated_ms: 1,
    sequence_id: "s",
    epoch: 3,
    year_start: "",
    late_max_ms: 0,
  };
  const orders = { period: "none", closed_before: "", begun_count: 0 };
  const bills = { period: "year", closed_before: "2022", begun_count: 4 };
  const counter = { used_count: 20, write_id: "w", taken_count: 10 };
  const raised = { raised_count: 7, raised_until_ms: 0, raised_revision: -1, raised_identity: "" };
  const member = { store_id: "m", stripe_index: 0, stripe_count: 1, members: "" };
  const state = { stopped: "", revision: 5, open_ms: 0, epoch: 4, emptied_revision: -1, move_state: "" };
  const process = { write_id: "n", seen_ms: 6, epoch: 2, server: "a" };
  const ofSequence = (name: string, kind: Row): Row => ({ namespace, name, ...definition, ...kind });
  const ofCounter = (name: string, periodKey: string): Row => ({ namespace, name, period_key: periodKey, ...counter });
  const ofProcess = (processId: string, line: number): Row => ({
    namespace,
    process_id: processId,
    line,
    ...process,
  });
  const prefixes = ["a.", ""];
  return {
    place: [{ namespace, identity, ...state, ...raised, ...member }],
    sequence: prefixes.flatMap((prefix) => [
      ofSequence(`${prefix}orders`, orders),
      ofSequence(`${prefix}bills`, bills),
    ]),
    counter: prefixes.flatMap((prefix) =>
      ["orders", "bills", "bills/2022", "bills/2023", "bills/2024", "bills/2025"].map((counterKey) => {
        const [name = "", periodKey = ""] = counterKey.split("/");
        return ofCounter(`${prefix}${name}`, periodKey);
      }),
    ),
    witness: ["p", "q"].flatMap((processId) => [0, 1].map((line) => ofProcess(processId, line))),
  };
}

/** The cells of all rows by `TABLE KEY`. */
export type Cells = ReadonlyMap<string, ReadonlyMap<string, string>>;

export async function readCells(world: Pick<WritesWorld, "run">): Promise<Cells> {
  const cells = new Map<string, ReadonlyMap<string, string>>();
  for (const table of tableList) {
    const { name, key } = tables[table];
    for (const row of await world.run(`SELECT * FROM ${name} WHERE ${isOfBoth}`)) {
      const columns = new Map(Object.entries(row).map(([column, value]) => [column, textOf(value)]));
      const whose = columns.get("namespace") === ours ? [] : ["(neighbour)"];
      const values = key.map((column) => columns.get(column) ?? "").filter((value) => value !== "");
      const words = [...whose, table, ...(values.length > 0 ? [values.join("/")] : [])];
      for (const column of ["namespace", ...key]) columns.delete(column);
      cells.set(words.join(" "), columns);
    }
  }
  return cells;
}

function textOf(value: unknown): string {
  if (typeof value === "boolean") return value ? "1" : "0";
  // MySQL and MariaDB keep texts as bytes; SQLite's driver gives none.
  return String(value);
}
