/** Tables of sequences that a real older release made, and its statements beside those of this one. */
import { expect, onTestFinished, test } from "vitest";
import { startMariadb } from "../../support/servers/mariadb-server.ts";
import { startMysql } from "../../support/servers/mysql-server.ts";
import { startPostgres } from "../../support/servers/postgres-server.ts";
import { runSql } from "../../support/servers/run-sql.ts";
import { openSequences } from "../../support/worlds/opened-sequences.ts";
import { type OlderKind, OlderSequences } from "./older-sequences.ts";

const kinds: readonly (readonly [name: string, OlderKind, typeof startPostgres])[] = [
  ["PostgreSQL", "postgres", startPostgres],
  ["MariaDB", "mariadb", startMariadb],
  ["MySQL", "mysql", startMysql],
];

/** The open database gives values after half a minute. */
const openNow = (url: string) => runSql(url, "UPDATE snowlane_sequence_place SET open_ms = 0");

/** Raises by nothing and opens, as the page says where MySQL or MariaDB made the table of counters again. */
async function raiseByNothing(url: string): Promise<void> {
  const operator = await openSequences(url).catalog();
  expect(await operator.raise({ kind: "all", count: 0n })).toBeDefined();
  expect(await operator.open()).toMatchObject({ kind: "opened" });
  await openNow(url);
}

async function stopReason(url: string): Promise<string> {
  const [row] = await runSql(url, "SELECT stopped FROM snowlane_sequence_place");
  return String(row?.["stopped"]);
}

test.each(kinds)(
  "an older and this release take in turns from tables that the older one made, and no value comes twice: %s",
  async (_, kind, start) => {
    const server = await start();
    onTestFinished(() => server.stop());
    const { url } = server;
    const older = await OlderSequences.begin(url, kind, "none");
    const values = [...(await older.take(10))];
    const upgrading = openSequences(url);
    const first = await upgrading.take(10).catch((error: { readonly reason: string }) => error.reason);
    const isMadeAgain = first === "STORE_WENT_BACK";
    if (isMadeAgain) {
      expect(await stopReason(url)).toContain("it is another database or an older copy");
      expect(await older.take(10)).toEqual([]);
      await raiseByNothing(url);
      await older.look();
    } else {
      values.push(...(first as readonly number[]));
    }
    expect(isMadeAgain).toBe(kind !== "postgres");
    const newer = isMadeAgain ? openSequences(url) : upgrading;
    for (let turn = 0; turn < 3; turn += 1) {
      values.push(...(await older.take(10)), ...(await newer.take(10)));
    }
    await newer.close();
    values.push(...(await older.take(5)), ...(await openSequences(url).take(5)));
    expect(values.toSorted((a, b) => a - b)).toEqual(Array.from({ length: values.length }, (_, at) => at + 1));
    expect(values.length).toBe(isMadeAgain ? 80 : 90);
    expect(await stopReason(url)).toBe("");
    const [step] = await runSql(url, "SELECT step FROM snowlane_sequence_schema ORDER BY step DESC LIMIT 1");
    expect(Number(step?.["step"])).toBe(4);
  },
);

test.each(kinds)(
  "periods that an older release began beside this one are not a loss, and are counted by the next that begins: %s",
  async (_, kind, start) => {
    const server = await start();
    onTestFinished(() => server.stop());
    const { url } = server;
    const older = await OlderSequences.begin(url, kind, "year");
    const year = new Date().getUTCFullYear();
    await older.beginPeriod(String(year - 2));
    expect(await older.take(3, String(year - 2))).toEqual([1, 2, 3]);
    await openSequences(url)
      .take(1)
      .catch(() => {});
    if (kind !== "postgres") {
      await raiseByNothing(url);
      await older.look();
    }
    const newer = openSequences(url);
    const before = (await newer.take(4)).at(-1)!;
    await older.beginPeriod(String(year - 1));
    expect(await older.take(3, String(year - 1))).toEqual([1, 2, 3]);
    expect((await older.take(3, String(year)))[0]).toBeGreaterThan(before);
    const [row] = await runSql(url, "SELECT begun_count FROM snowlane_sequence");
    expect(Number(row?.["begun_count"])).toBe(2);
    const operator = await openSequences(url).catalog();
    expect(await operator.prune(["orders"], `${year - 1}-01-01`, "write")).toMatchObject([{ outcome: { count: 1 } }]);
    const [counted] = await runSql(url, "SELECT begun_count FROM snowlane_sequence");
    expect(Number(counted?.["begun_count"])).toBe(2);
    expect((await newer.take(20)).length).toBe(20);
    expect(await stopReason(url)).toBe("");
  },
);
