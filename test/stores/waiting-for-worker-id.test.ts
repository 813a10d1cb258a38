import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { beginServer, runServer } from "../support/processes/running-server.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";

const patience = { timeout: 90_000, interval: 100 };

/** A layout without datacenters, and all of its worker IDs that this deployment may use. */
const two = { layout: "sonyflake", workerIds: "0-1", window: "20s", windowMax: "20s", resumeDir: "off" };

/** What a log line says. */
function messageOf(line: string): string {
  return (JSON.parse(line) as { readonly message: string }).message;
}

test("a start while all worker IDs are held says when one becomes free, and serves as soon as a holder stops", async () => {
  const database = await startPostgres();
  onTestFinished(() => database.stop());
  const flags = { ...two, store: database.url };
  const holders = [await runServer(flags), await runServer(flags)];
  const refused = beginServer(flags);
  onTestFinished(() => refused.end());
  await expect(refused.starting).rejects.toMatchObject({
    reason: "NO_FREE_WORKER_ID",
    message: expect.stringMatching(
      /all 2 are in use.* One becomes free at 20\d\d-\d\d-\d\dT[\d:.]+Z unless its holder renews\./,
    ),
    metadata: { free_from_unix_ms: expect.stringMatching(/^\d{13}$/) },
  });

  const waiter = beginServer({ ...flags, waitForWorkerId: "10m" });
  onTestFinished(() => waiter.end());
  waiter.starting.catch(() => {});
  const waits = (): boolean =>
    waiter.log.some((line) => /^Waits before it can take a worker ID.*\(until /.test(messageOf(line)));
  await expect.poll(waits, patience).toBe(true);
  let isServing = false;
  const served = waiter.starting.then((server) => {
    isServing = true;
    return server;
  });
  served.catch(() => {});
  await sleep(3_000);
  expect(isServing).toBe(false);
  const status = holders[0]!.server.source.status().grant!;
  const heldUntilMs = status.untilMs;
  await holders[0]!.server.stop();
  const { source } = await served;
  expect(source.status().grant!.workerId).toBe(status.workerId);
  // It was given back, so nobody waited for its window to end.
  expect(Date.now()).toBeLessThan(heldUntilMs);
  expect(source.tryNext()).toBeTypeOf("bigint");
});
