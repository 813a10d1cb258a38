import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { type LogLine, type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { runSql } from "../support/servers/run-sql.ts";

/** Long enough for a second server to start within the quarantine. */
const times = ["--window", "17s", "--window-max", "17s", "--renewal-period", "500ms"];

async function serve(url: string): Promise<SnowlaneProcess> {
  const server = await startSnowlane({ args: ["--store", url, ...times] });
  onTestFinished(() => void server.child.kill("SIGKILL"));
  return server;
}

function linesOf({ log }: SnowlaneProcess, event: string): readonly LogLine[] {
  return log.filter((line) => line["event"] === event);
}

test("OPTIMIZE TABLE is another life: a start waits, the holder goes on, and the log names it", async () => {
  const store = await startMariadb();
  onTestFinished(() => store.stop());
  const holder = await serve(store.url);
  // The time of creation counts seconds.
  await sleep(1_100);
  await runSql(store.url, "OPTIMIZE TABLE snowlane_record");
  await expect.poll(() => linesOf(holder, "incarnation-changed").length).toBe(1);
  expect(linesOf(holder, "incarnation-changed")[0]!["message"]).toContain("OPTIMIZE TABLE");
  const second = await serve(store.url);
  expect(linesOf(second, "waiting")).toMatchObject([{ for: "quarantine" }]);
  expect(linesOf(holder, "grant-ended")).toEqual([]);
});
