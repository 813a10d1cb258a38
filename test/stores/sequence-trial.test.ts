import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/clock/clock.ts";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { startMysql } from "../support/servers/mysql-server.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { scale, sized } from "../support/worlds/scale.ts";
import { runSequenceTrial } from "./sequence-trial.ts";

const databases = [
  { kind: "PostgreSQL", start: () => startPostgres() },
  { kind: "MariaDB", start: () => startMariadb() },
  { kind: "MySQL", start: () => startMysql() },
  { kind: "SQLite", start: undefined },
];
/** Each start of a server takes a third of a second of processor. */
const serverCount = sized(6, 16);
const roundCount = 4;
const valuesOfRound = sized(50_000, 200_000) * scale;
/** Beyond ten million values the steps grow, not the number of takes: those are what takes the time. */
const step = 1_000 * Math.max(1, Math.floor(scale / 10));

/**
 * A quarter of a million values on each database, or a million. docs/sequence-losses.md has the command that takes 10^8
 * on each, and prints its line for the table there.
 */
test.for(databases)(
  "no value comes twice where servers and their database are killed, and a crash wastes two steps at most: $kind",
  { timeout: 1_800_000 * scale },
  async ({ kind, start }, { annotate }) => {
    const beganMs = systemClock.monotonicMs();
    const database = await start?.();
    onTestFinished(() => database?.stop());
    const folder = mkdtempSync(join(tmpdir(), "snowlane-trial-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const databaseUrl = database?.url ?? `sqlite:${folder}/values.db`;
    const sizes = { serverCount, step, roundCount, valuesOfRound };
    const result = await runSequenceTrial({ databaseUrl, database, folder, ...sizes });
    const counts = [result.valueCount, step, result.repeatedCount, result.wastedCount, result.serverKillCount];
    const minutes = Math.ceil((systemClock.monotonicMs() - beganMs) / 60_000);
    const figures = [...counts, result.databaseKillCount, minutes].map((count) => count.toLocaleString("en-US"));
    await annotate(`| ${[kind, ...figures].join(" | ")} |`);
    const databaseKills = database === undefined ? 0 : 2;
    expect(result).toMatchObject({ repeatedCount: 0, serverKillCount: 4, databaseKillCount: databaseKills });
    expect(result.valueCount).toBeGreaterThanOrEqual((roundCount + 1) * valuesOfRound);
    const { serverKillCount, databaseKillCount, lostMax } = result;
    // A database that dies leaves each server in the middle of one take at most.
    const crashWaste = 2 * step * serverKillCount + step * serverCount * databaseKillCount;
    expect(result.wastedCount).toBeLessThanOrEqual(crashWaste + lostMax);
    expect(result.wastedCount).toBeGreaterThan(0);
  },
);
