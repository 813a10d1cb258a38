/**
 * The tables of sequences in a database server, created and changed by numbered steps.
 *
 * The table snowlane_sequence_schema has a row for each step that was done, and from the third step on, the column
 * `program` holds the version of Snowlane that did it, so that an older version can say which one is needed. A table
 * that is missing although the first step was done is never created again: it held counters, and a new one would start
 * from 0.
 */
import { IdError } from "../../errors.ts";
import { programName } from "../../store/program-name.ts";
import { version as program } from "../../version.ts";
import type { SqlSession } from "./sql-session.ts";

/** How a kind of database creates its tables. */
export interface SchemaRules<Connection> {
  /** Scheme of the store, for messages. */
  readonly kind: string;
  /** The tables that must exist; the table of the steps is the last. */
  readonly names: readonly string[];
  /** The tables that a later step creates, by the number of the step. */
  readonly laterNames: Readonly<Record<number, readonly string[]>>;
  /** The statements of each step, from the first on. They may run again if a step was not finished. */
  readonly steps: readonly (readonly string[])[];
  /** Whether an error means that a statement of a step was done before; absent if such a statement does not fail. */
  readonly isDone?: (error: unknown) => boolean;
  /** Whether all of the named tables exist. */
  readonly areThere: (connection: Connection, names: readonly string[]) => Promise<boolean>;
  /** Runs statements on a connection. */
  readonly session: (connection: Connection) => SqlSession;
  /** Does some work while no other process changes the tables, in one transaction if the database supports that. */
  readonly alone: (connection: Connection, work: () => Promise<void>) => Promise<void>;
  /** Checks the server for settings with which takes could be lost. @throws IdError INVALID_CONFIG. */
  readonly check?: (connection: Connection) => Promise<void>;
}

/** The names of the tables, without their schema. */
export const tableNames = {
  sequence: "snowlane_sequence",
  counter: "snowlane_sequence_counter",
  databases: "snowlane_sequence_place",
  witness: "snowlane_sequence_witness",
  schema: "snowlane_sequence_schema",
} as const;

/** Writes the statement that notes for every sequence how many periods have a counter. */
export function countBegun(sequence: string, counter: string): string {
  return `UPDATE ${sequence} SET begun_count = (SELECT count(*) FROM ${counter} c
    WHERE c.namespace = ${sequence}.namespace AND c.name = ${sequence}.name AND c.period_key <> '')`;
}

/** The step that adds the column `program`. */
const namedFromStep = 3;

/**
 * Creates missing tables, and upgrades them to the newest form. An account without the right to create tables is enough
 * if they have that form already.
 *
 * @throws IdError INVALID_CONFIG: the tables are of a newer form. STORE_WENT_BACK: some of them are gone.
 */
export async function ensureSchema<Connection>(connection: Connection, rules: SchemaRules<Connection>): Promise<void> {
  await rules.check?.(connection);
  if (await isCurrent(connection, rules)) return;
  await rules.alone(connection, async () => {
    // Another process may have been faster.
    if (await isCurrent(connection, rules)) return;
    const schema = rules.names.at(-1)!;
    const session = rules.session(connection);
    await session.run(`CREATE TABLE IF NOT EXISTS ${schema} (step INT NOT NULL PRIMARY KEY)`);
    const version = await versionOf(connection, rules);
    for (const [index, statements] of rules.steps.entries()) {
      if (index < version) continue;
      for (const statement of statements) {
        await session.run(statement).catch((error: unknown) => {
          if (rules.isDone?.(error) !== true) throw error;
        });
      }
      const step = index + 1;
      const row = step < namedFromStep ? `(step) VALUES (${step})` : `(step, program) VALUES (${step}, '${program}')`;
      await session.run(`INSERT INTO ${schema} ${row}`);
    }
  });
}

/** The number of the last step that was done; 0 if none was. */
async function versionOf<Connection>(connection: Connection, rules: SchemaRules<Connection>): Promise<number> {
  return Number((await lastStep(connection, rules))?.["step"] ?? 0);
}

/** The row of the last step that was done, with columns that a later version may have added. */
async function lastStep<Connection>(
  connection: Connection,
  { names, areThere, session }: SchemaRules<Connection>,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const schema = names.at(-1)!;
  if (!(await areThere(connection, [schema]))) return undefined;
  const [row] = await session(connection).all(`SELECT * FROM ${schema} ORDER BY step DESC LIMIT 1`);
  return row;
}

async function isCurrent<Connection>(connection: Connection, rules: SchemaRules<Connection>): Promise<boolean> {
  const { kind, steps } = rules;
  const last = await lastStep(connection, rules);
  const version = Number(last?.["step"] ?? 0);
  if (version > steps.length) {
    const newerProgram = programName(last?.["program"]);
    const newer = newerProgram === undefined ? "a newer release" : `Snowlane ${newerProgram}`;
    const message = `The tables of sequences have version ${version}, and this release knows ${steps.length}. Install ${newer}.`;
    const metadata = { store: kind, version, version_max: steps.length };
    throw new IdError("INVALID_CONFIG", message, { metadata });
  }
  const later = new Set(
    Object.entries(rules.laterNames).flatMap(([step, made]) => (Number(step) > version ? made : [])),
  );
  const names = rules.names.filter((name) => !later.has(name));
  if (version > 0 && !(await rules.areThere(connection, names))) {
    const what = `tables ${names.join(", ")}`;
    const message = `The ${kind} store has lost some of its ${what}. Restore them before you start a server.`;
    throw new IdError("STORE_WENT_BACK", message, { metadata: { store: kind, what } });
  }
  return version === steps.length;
}
