import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { startMysql } from "../support/servers/mysql-server.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { scale } from "../support/worlds/scale.ts";
import { runSequenceTrial } from "./sequence-trial.ts";

const serverCount = scale === 1 ? 5 : 16;
const databases = [
  { kind: "PostgreSQL", start: () => startPostgres(), serverCount: 16 },
  { kind: "MariaDB", start: () => startMariadb(), serverCount },
  { kind: "MySQL", start: () => startMysql(), serverCount },
  { kind: "SQLite", start: undefined, serverCount },
];
const step = 1_000;

/**
 * A million values on each database, by 16 servers on PostgreSQL and, for the time it takes, 5 on the others.
 * `SNOWLANE_TEST_SCALE=100 vitest run --project stores sequence-trial` takes 10^8 by 16 servers on each. The killed
 * servers of the trial count as crashes, and so does each server that the database leaves in the middle of a take.
 */
test.each(databases)(
  "no value comes twice where servers and their database are killed, and a crash wastes two steps at most: $kind",
  { timeout: 600_000 * scale },
  async ({ start, serverCount }) => {
    const database = await start?.();
    onTestFinished(() => database?.stop());
    const folder = mkdtempSync(join(tmpdir(), "snowlane-trial-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const roundCount = 4;
    const valuesOfRound = 200_000 * scale;
    const databaseUrl = database?.url ?? `sqlite:${folder}/values.db`;
    const sizes = { serverCount, step, roundCount, valuesOfRound };
    const result = await runSequenceTrial({ databaseUrl, database, folder, ...sizes });
    const databaseKills = database === undefined ? 0 : 2;
    expect(result).toMatchObject({ repeatedCount: 0, serverKillCount: 4, databaseKillCount: databaseKills });
    expect(result.valueCount).toBeGreaterThanOrEqual(1_000_000 * scale);
    const { serverKillCount, databaseKillCount, lostMax } = result;
    // Each server that is stopped at the end may find that another one took after it, and keeps its two steps.
    const crashCount = serverKillCount + databaseKillCount * serverCount + serverCount;
    expect(result.wastedCount).toBeLessThanOrEqual(2 * step * crashCount + lostMax);
    expect(result.wastedCount).toBeGreaterThan(0);
  },
);
