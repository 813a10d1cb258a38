import { setTimeout as sleep } from "node:timers/promises";
import { test } from "vitest";
import { duplicatesOf } from "../support/processes/issuing-worker.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { runSql } from "../support/servers/run-sql.ts";
import { runUnseenLoss, startUnaware, tellsOfLoss, unseenQuarantineMs } from "./loss-run.ts";
import { unseenLosses } from "./unseen-losses.ts";

test.concurrent.for(unseenLosses)(
  "goes unseen, and with the step of the runbook no ID comes twice: $name",
  async ({ set }, { onTestFinished, expect }) => {
    const stage = await set();
    onTestFinished(() => stage.stop());
    const { unaware, grants, quarantineUntilMs, duplicateCount } = await runUnseenLoss(stage);
    expect(unaware.filter(tellsOfLoss)).toEqual([]);
    expect(duplicateCount).toBe(0);
    for (const { fromMs } of grants) expect(fromMs).toBeGreaterThanOrEqual(quarantineUntilMs);
  },
);

test("an emptied store is new to a process that never saw it; when all have been stopped for a window and 3 s, no ID comes twice", async ({
  onTestFinished,
  expect,
}) => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const place = { url: server.url, windowMs: 5_000 };
  const empty = (): Promise<unknown> => runSql(server.url, "DELETE FROM snowlane_record");
  await (await startUnaware(place)).stop();
  await empty();
  const unaware = await startUnaware(place);
  expect(unaware.events.filter(tellsOfLoss)).toEqual([]);
  await unaware.stop();
  await empty();
  await sleep(unseenQuarantineMs(place.windowMs));
  const later = await startUnaware(place);
  await expect.poll(() => later.ids.length, { timeout: 90_000, interval: 50 }).toBeGreaterThan(0);
  await later.stop();
  expect(duplicatesOf(unaware.ids, later.ids)).toEqual([]);
});
