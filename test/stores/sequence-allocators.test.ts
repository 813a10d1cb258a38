/** Programs that give several rows for one value of a database's sequence: none of their rows is ever given again. */
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runInProcess } from "../cli/in-process.ts";
import { docBlock, sequencesDoc } from "../house/stores-doc.ts";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { startMysql } from "../support/servers/mysql-server.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { runSql } from "../support/servers/run-sql.ts";

const blockSize = 50;
const queryOf = (program: string): string => docBlock(`import: ${program}`, sequencesDoc).replaceAll("\n", " ");
const range = (first: number, count = blockSize): readonly number[] =>
  Array.from({ length: count }, (_, index) => first + index);

/** An allocator: the sequence that its program declares, and the IDs that it gives for the values of nextval. */
interface Allocator {
  readonly name: string;
  readonly declared: string;
  readonly idsOf: (next: number) => readonly number[];
  /** How its counter is taken over, as the page says: by the query of the sequences, or by the highest row. */
  readonly by: "sequence" | "rows";
}

const allocators: readonly Allocator[] = [
  // The value is the low end of a block.
  {
    name: "hibernate-pooled-lo",
    declared: `START 1 INCREMENT ${blockSize}`,
    idsOf: (next) => range(next),
    by: "sequence",
  },
  { name: "ef-core-hilo", declared: `START 1 INCREMENT ${blockSize}`, idsOf: (next) => range(next), by: "sequence" },
  // The value is the high end of a block; the first one is 1 alone.
  {
    name: "hibernate-pooled",
    declared: `START 1 INCREMENT ${blockSize}`,
    idsOf: (next) => (next === 1 ? [1] : range(next - blockSize + 1)),
    by: "sequence",
  },
  // The value is a multiplier.
  { name: "legacy-hilo", declared: "START 1 INCREMENT 1", idsOf: (next) => range(next * blockSize), by: "rows" },
  { name: "nextval", declared: "START 1 INCREMENT 1", idsOf: (next) => [next], by: "sequence" },
  // It began again, and rows of the first turn are there still.
  {
    name: "cycle",
    declared: "START 1 INCREMENT 1 MINVALUE 1 MAXVALUE 3 CYCLE",
    idsOf: (next) => [next],
    by: "sequence",
  },
];

/** What `snowlane sequences` says on a new file. */
function sequencesInFile() {
  const store = `sqlite:${join(temporaryFolder(), "s.db")}`;
  const run = (...words: readonly string[]) => runInProcess(["sequences", ...words, "--store", store]);
  /** The first value that the taken-over sequence gives. */
  const firstAfter = async (name: string, ...source: readonly string[]): Promise<number> => {
    expect(await run("import", ...source, "--enable"), name).toMatchObject({ code: 0, stderr: "" });
    return Number((await run("next", name)).stdout);
  };
  return { run, firstAfter };
}

test.each(allocators)(
  "PostgreSQL: no row of the allocator $name is given again",
  async ({ name, declared, idsOf, by }) => {
    const server = await startPostgres();
    onTestFinished(() => server.stop());
    const { url } = server;
    await runSql(url, `CREATE SEQUENCE "${name}" ${declared}`, "CREATE TABLE orders (id bigint)");
    const { firstAfter } = sequencesInFile();
    for (let turn = 0; turn < 4; turn += 1) {
      const [row] = await runSql(url, `SELECT nextval('"${name}"') AS next`);
      const ids = idsOf(Number(row!["next"]));
      await runSql(url, `INSERT INTO orders VALUES ${ids.map((id) => `(${id})`).join(", ")}`);
    }
    const [row] = await runSql(url, "SELECT max(id) AS highest FROM orders");
    const highest = Number(row!["highest"]);
    const source =
      by === "sequence"
        ? ["--from", url, "--sql", queryOf("postgres")]
        : ["--from", url, "--sql", "SELECT max(id) FROM orders", "--name", name];
    const first = await firstAfter(name, ...source);
    expect(first).toBeGreaterThan(highest);
    // A block may be left out, and no more.
    expect(first).toBeLessThanOrEqual(highest + blockSize);
  },
);

test.each([
  ["MariaDB", () => startMariadb()],
  ["MySQL", () => startMysql()],
] as const)(
  "%s: AUTO_INCREMENT with steps, as of a cluster, is read above the rows of every server",
  async (_kind, start) => {
    const server = await start();
    onTestFinished(() => server.stop());
    const { url } = server;
    await runSql(
      url,
      "CREATE TABLE orders (id BIGINT PRIMARY KEY AUTO_INCREMENT)",
      "SET SESSION auto_increment_increment = 7, SESSION auto_increment_offset = 3",
      "INSERT INTO orders VALUES (), (), ()",
    );
    const [row] = await runSql(url, "SELECT max(id) AS highest FROM orders");
    const { firstAfter } = sequencesInFile();
    const first = await firstAfter("orders", "--from", url, "--sql", queryOf("auto-increment"));
    expect(first).toBeGreaterThan(Number(row!["highest"]));
  },
);

test.each(allocators)(
  "MariaDB: no row of the allocator $name is given again",
  async ({ name, declared, idsOf, by }) => {
    const server = await startMariadb();
    onTestFinished(() => server.stop());
    const { url } = server;
    const words = declared.replace("START", "START WITH").replace("INCREMENT", "INCREMENT BY");
    await runSql(url, `CREATE SEQUENCE orders_seq ${words} NOCACHE`, "CREATE TABLE orders (id bigint)");
    for (let turn = 0; turn < 4; turn += 1) {
      const [row] = await runSql(url, "SELECT NEXTVAL(orders_seq) AS next");
      const ids = idsOf(Number(row!["next"]));
      await runSql(url, `INSERT INTO orders VALUES ${ids.map((id) => `(${id})`).join(", ")}`);
    }
    const [row] = await runSql(url, "SELECT max(id) AS highest FROM orders");
    const highest = Number(row!["highest"]);
    const query = by === "sequence" ? queryOf("mariadb-sequence") : "SELECT max(id) FROM orders";
    const { firstAfter } = sequencesInFile();
    const first = await firstAfter(name, "--from", url, "--sql", query, "--name", name);
    expect(first).toBeGreaterThan(highest);
    expect(first).toBeLessThanOrEqual(highest + blockSize);
  },
);
