import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Pool } from "pg";
import { startIdPool, takeFromPool } from "../support/processes/php-pool.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { buildRustFleet } from "../support/processes/rust-fleet.ts";

/** A program that saves rows whose IDs come from the servers, beside others. */
export interface Member {
  readonly name: string;
  /** Of its own. */
  readonly table: string;
  /** Saves this many rows, a multiple of 1,000, and ends. */
  readonly save: (count: number) => Promise<void>;
  /** Ends what it left running. */
  readonly stop: () => Promise<void>;
}

/** Where a member gets its IDs and saves its rows. */
interface FleetWorld {
  /** Of its process: the variables of an example. */
  readonly env: Readonly<Record<string, string>>;
  /** For members that have no driver of their own: these lines of docs/frameworks.md have no table. */
  readonly database: Pool;
}

/** An installed program of examples/. */
export function exampleMember(
  { name, command, cwd }: { readonly name: string; readonly command: readonly string[]; readonly cwd: string },
  { env }: FleetWorld,
): Member {
  const [program = "", ...args] = command;
  return {
    name,
    table: `orders_${name.replaceAll("-", "_")}`,
    save: async (count) => void (await runCommand(program, [...args, `${count}`], { cwd, env })),
    stop: async () => {},
  };
}

/** The lines for Rust, in a program with eight tasks. */
export async function rustMember(folder: string, { env, database }: FleetWorld): Promise<Member> {
  const program = await buildRustFleet(join(folder, "rust"));
  const table = await makeTable(database, "orders_rust");
  const save = async (count: number): Promise<void> => {
    const child = spawn(program, {
      env: { ...process.env, ...env, EACH: `${count / 8}` },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = once(child, "close");
    let batch: string[] = [];
    for await (const id of createInterface({ input: child.stdout })) {
      batch.push(id);
      if (batch.length < 1_000) continue;
      await insert(database, table, batch);
      batch = [];
    }
    await insert(database, table, batch);
    const [code, signal] = await ended;
    if (code !== 0) throw new Error(`The program in Rust left with ${signal ?? code}.`);
  };
  return { name: "rust", table, save, stop: async () => {} };
}

/** The lines for PHP-FPM, in four workers with one stock. */
export async function phpMember(folder: string, { env, database }: FleetWorld): Promise<Member> {
  const script = join(folder, "php");
  mkdirSync(script);
  const pool = await startIdPool(script, env["SNOWLANE_URL"]!);
  const table = await makeTable(database, "orders_php");
  const call = async (count: number): Promise<void> => {
    // A request may get fewer, while no server answers.
    for (let left = count; left > 0; ) {
      const { ids } = await takeFromPool(pool, Math.min(100, left));
      await insert(database, table, ids);
      left -= ids.length;
    }
  };
  const save = async (count: number): Promise<void> => {
    await Promise.all(Array.from({ length: 4 }, () => call(count / 4)));
  };
  return { name: "php", table, save, stop: pool.stop };
}

/** Makes a table that takes any ID, so that equal ones are counted at the end. */
async function makeTable(database: Pool, table: string): Promise<string> {
  await database.query(`CREATE TABLE ${table} (id bigint NOT NULL)`);
  return table;
}

async function insert(database: Pool, table: string, ids: readonly string[]): Promise<void> {
  await database.query(`INSERT INTO ${table} SELECT unnest($1::bigint[])`, [ids]);
}
