/**
 * The tables of sequences in a database of its own server, made and changed by numbered steps.
 *
 * The table snowlane_sequence_schema has a row for each step that was done, from the third one on with the version of
 * Snowlane that did it, in the column `program`: a version that is older then says what is needed. A table that is
 * missing although the first step was done is never made again: it held counters, and a new one would begin at nothing.
 */
import { IdError } from "../../errors.ts";
import { programName } from "../../store/program-name.ts";
import { version as program } from "../../version.ts";
import type { SqlSession } from "./sql-session.ts";

/** How a kind of database makes its tables. */
export interface SchemaRules<Connection> {
  /** Scheme of the store, for messages. */
  readonly kind: string;
  /** The tables that must be there; that of the steps is the last. */
  readonly names: readonly string[];
  /** Those of them that a step after the first makes, by its number. */
  readonly laterNames: Readonly<Record<number, readonly string[]>>;
  /** Statements of each step, from the first on. They may be run again where a step was not finished. */
  readonly steps: readonly (readonly string[])[];
  /** Tells by its error that a statement of a step was done before; absent where such a statement has no error. */
  readonly isDone?: (error: unknown) => boolean;
  /** Tells whether all of some tables are there. */
  readonly areThere: (connection: Connection, names: readonly string[]) => Promise<boolean>;
  /** Runs statements on a connection. */
  readonly session: (connection: Connection) => SqlSession;
  /** Does some work while no other process changes the tables, in one transaction where the database can. */
  readonly alone: (connection: Connection, work: () => Promise<void>) => Promise<void>;
  /** Looks at settings of the server that would lose takes. @throws IdError INVALID_CONFIG. */
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

/** Writes the statement by which every sequence learns how many periods have a counter. */
export function countBegun(sequence: string, counter: string): string {
  return `UPDATE ${sequence} SET begun_count = (SELECT count(*) FROM ${counter} c
    WHERE c.namespace = ${sequence}.namespace AND c.name = ${sequence}.name AND c.period_key <> '')`;
}

/** The step that adds the column `program`. */
const namedFromStep = 3;

/**
 * Makes the tables that are missing, and brings them to the newest form. An account that may create nothing works where
 * they stand in that form.
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

/** The number of the last step that was done; 0 = none. */
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
