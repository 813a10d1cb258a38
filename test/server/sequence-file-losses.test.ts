/** The table of docs/sequence-losses.md, row by row, for SQLite. */
import { cpSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { openSequences } from "../support/worlds/opened-sequences.ts";
import { expectStops } from "../support/worlds/standing-losses.ts";

const regression = expect.objectContaining({ reason: "STORE_WENT_BACK" });

/** Hands out 1 to 5, keeps a copy of the file and of the folder beside it, and hands out 6 to 10. */
async function prepare() {
  const folder = temporaryFolder();
  const url = `sqlite:${join(folder, "s.db")}`;
  const file = join(folder, "s.db.sequences");
  const first = openSequences(url);
  await (await first.catalog()).create({ name: "orders", allocation: "strict" });
  expect(await first.take(5)).toEqual([1, 2, 3, 4, 5]);
  await first.close();
  for (const part of ["", ".locks"]) cpSync(`${file}${part}`, `${file}${part}.old`, { recursive: true });
  const second = openSequences(url);
  expect(await second.take(5)).toEqual([6, 7, 8, 9, 10]);
  await second.close();
  return { url, file, folder };
}

/** Takes the 30 seconds after an opening out of a file. */
function openNow(file: string): void {
  const database = new DatabaseSync(file, { timeout: 20_000 });
  database.exec("UPDATE snowlane_sequence_place SET open_ms = 0");
  database.close();
}

test("a file that was deleted, or replaced by another one, shows before a value repeats", async () => {
  const { url, file, folder } = await prepare();
  rmSync(file);
  const late = openSequences(url);
  await expect(late.take(1)).rejects.toEqual(regression);
  // Without a backup: new sequences begin above all that was raised.
  const catalog = await late.catalog();
  await catalog.raise({ kind: "all", count: 10n });
  expect(await catalog.open()).toMatchObject({ kind: "opened" });
  openNow(file);
  await catalog.create({ name: "orders", allocation: "strict" });
  expect(await late.take(1)).toEqual([11]);
  await late.close();

  const other = openSequences(`sqlite:${join(folder, "other.db")}`);
  await (await other.catalog()).create({ name: "orders", allocation: "strict" });
  await other.close();
  renameSync(join(folder, "other.db.sequences"), file);
  const replaced = openSequences(url);
  await expect(replaced.take(1)).rejects.toEqual(regression);
  const operator = await replaced.catalog();
  expect(await operator.raise({ kind: "all", count: 20n })).toBe(1);
  expect(await operator.open()).toMatchObject({ kind: "opened" });
  openNow(file);
  // Above 11, the highest value of the files before.
  expect(await replaced.take(1)).toEqual([21]);
  await replaced.close();
});

test("an older file and its folder, put back together, repeat a value, unless the runbook comes first", async () => {
  const { url, file } = await prepare();
  const putBack = (): void => {
    for (const part of ["", ".locks"]) {
      rmSync(`${file}${part}`, { recursive: true });
      cpSync(`${file}${part}.old`, `${file}${part}`, { recursive: true });
    }
  };
  putBack();
  const seen = openSequences(url);
  expect(await seen.take(1)).toEqual([6]);
  await seen.close();

  putBack();
  const operator = openSequences(url);
  const catalog = await operator.catalog();
  await catalog.stop("a snapshot was put back");
  expect(await catalog.raise({ kind: "all", count: 5n })).toBe(1);
  expect(await catalog.open()).toMatchObject({ kind: "opened" });
  expect((await catalog.get("orders")).nextValue).toBe(11n);
});

test("a file that is moved with its folder goes on, and one that is moved without it, after raise by 0 and open", async () => {
  const { file, folder } = await prepare();
  const databaseOf = (name: string): string => join(folder, `${name}.sequences`);
  for (const part of ["", ".locks"]) renameSync(`${file}${part}`, `${databaseOf("moved.db")}${part}`);
  const moved = openSequences(`sqlite:${join(folder, "moved.db")}`);
  expect(await moved.take(1)).toEqual([11]);
  await moved.close();

  renameSync(databaseOf("moved.db"), databaseOf("alone.db"));
  const alone = openSequences(`sqlite:${join(folder, "alone.db")}`);
  await expect(alone.take(1)).rejects.toEqual(regression);
  const operator = await alone.catalog();
  expect(await operator.raise({ kind: "all", count: 0n })).toBe(1);
  expect(await operator.open()).toMatchObject({ kind: "opened" });
  openNow(databaseOf("alone.db"));
  expect(await alone.take(1)).toEqual([12]);
});

test("a loss in an existing file stops it although no server takes from it", async () => {
  const folder = temporaryFolder();
  await expectStops(`sqlite:${join(folder, "s.db")}`, async (statement) => {
    const database = new DatabaseSync(join(folder, "s.db.sequences"), { timeout: 20_000 });
    const rows = database.prepare(statement).all();
    database.close();
    return rows;
  });
});
