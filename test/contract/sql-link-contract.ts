import { expect, onTestFinished, test } from "vitest";
import { IdError } from "../../src/errors.ts";
import { MadeOnce } from "../../src/store/link/made-once.ts";
import type { SqlDatabase } from "../../src/store/link/sql-database.ts";

/** A database, and how a test talks to it over a connection of a link. */
export interface SqlLinkFixture<Connection> {
  readonly kind: string;
  readonly open: () => Promise<SqlDatabase<Connection>>;
  readonly run: (connection: Connection, sql: string) => Promise<unknown>;
}

/**
 * What a database's links owe to a user that knows nothing of worker records: here one that keeps two tables of
 * counters.
 */
export function describeSqlLinkContract<Connection>(
  name: string,
  fixture: () => Promise<SqlLinkFixture<Connection>>,
): void {
  let users = 0;

  /** Two tables of a user of its own, and links to them. */
  async function newUser(whereNew?: "refuse") {
    const { kind, open, run } = await fixture();
    users += 1;
    const names = [`counter_${users}`, `place_${users}`];
    let makes = 0;
    const make = async (connection: Connection): Promise<void> => {
      makes += 1;
      for (const table of names) await run(connection, `CREATE TABLE IF NOT EXISTS ${table} (used INT)`);
    };
    const database = await open();
    const tables = new MadeOnce({ kind, noun: "table", names, whereNew, make });
    const link = () => {
      const made = database.link(tables);
      onTestFinished(() => made.close());
      return made;
    };
    return { kind, names, database, link, run, makes: () => makes };
  }

  async function failure(work: Promise<unknown>): Promise<IdError> {
    const error = await work.catch((cause: unknown) => cause);
    if (error instanceof IdError) return error;
    throw new Error("no IdError was thrown", { cause: error });
  }

  test(`${name}: the first link makes the tables of its user, and another finds them`, async () => {
    const { names, link, run, makes } = await newUser();
    const [first, second] = [link(), link()];
    for (const table of names) await first.call((connection) => run(connection, `INSERT INTO ${table} VALUES (1)`));
    await second.call((connection) => run(connection, `UPDATE ${names[0]} SET used = 2`));
    expect(makes()).toBe(1);
  });

  test(`${name}: a table that vanished is never made again, whichever link connects next`, async () => {
    const { kind, names, link, run, makes } = await newUser();
    await link().call((connection) => run(connection, `INSERT INTO ${names[0]} VALUES (1)`));
    await link().call((connection) => run(connection, `DROP TABLE ${names[1]}`));
    // It has not connected yet, so it has seen nothing itself.
    const late = link();
    for (let attempt = 0; attempt < 2; attempt += 1) {
      expect(await failure(late.call(async () => {}))).toMatchObject({
        reason: "STORE_WENT_BACK",
        metadata: { store: kind, what: `tables ${names.join(", ")}` },
      });
    }
    expect(makes()).toBe(1);
  });

  test(`${name}: a user that only looks makes no table`, async () => {
    const { link, makes } = await newUser("refuse");
    expect(await failure(link().call(async () => {}))).toMatchObject({
      reason: "INVALID_CONFIG",
      metadata: { kept: "nothing" },
    });
    expect(makes()).toBe(0);
  });

  test(`${name}: the moment tells the life of the server and of one table`, async () => {
    const { database, names, link } = await newUser();
    const moments = await link().call(async (connection) => [
      await database.moment(connection, names[0]!),
      await database.moment(connection, names[0]!),
    ]);
    const [first, second] = moments;
    expect(second).toMatchObject({ startedMs: first!.startedMs, parts: first!.parts });
    expect(second!.clockMs).toBeGreaterThanOrEqual(first!.clockMs);
    expect(first!.clockMs).toBeGreaterThan(first!.startedMs!);
  });
}
