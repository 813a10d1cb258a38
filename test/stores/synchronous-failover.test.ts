/** A primary with a synchronous standby that is lost while its commits wait for that standby. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { workerKey } from "../../src/lease/records/worker-record.ts";
import { duplicatesOf, IssuingWorker } from "../support/processes/issuing-worker.ts";
import { TcpProxy } from "../support/processes/tcp-proxy.ts";
import { startPostgres, startStandby } from "../support/servers/postgres-server.ts";
import { runSql } from "../support/servers/run-sql.ts";

const patience = { timeout: 150_000, interval: 100 };

const times = { windowMs: 20_000, windowMaxMs: 20_000, renewalPeriodMs: 500, ttlMs: 23_000, storeTimeoutMs: 1_500 };

test("a failover to a synchronous standby while commits hang: nobody issues by a write that was only read, and no ID comes twice", async () => {
  const primary = await startPostgres();
  onTestFinished(() => primary.stop());
  const wire = await TcpProxy.start(primary.port);
  onTestFinished(() => wire.stop());
  await (await IssuingWorker.start({ ...times, storeUrl: primary.url })).stop();
  const standby = await startStandby(primary, { port: wire.port });
  onTestFinished(() => standby.stop());
  await runSql(primary.url, "ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()");
  const inStep = "SELECT sync_state FROM pg_stat_replication";
  await expect.poll(() => runSql(primary.url, inStep), patience).toEqual([{ sync_state: "sync" }]);

  const url = primary.url.replace(`:${primary.port}`, `:${primary.port},127.0.0.1:${standby.port}`);
  const options = { ...times, storeUrl: url };
  const holder = await IssuingWorker.start(options);
  const records = (server: { readonly url: string }) =>
    runSql(server.url, "SELECT key, text FROM snowlane_record WHERE key LIKE 'worker-%' ORDER BY key");
  const { datacenterId, workerId } = holder.source.status().grant!;
  const holderKey = workerKey(datacenterId * 32 + workerId);
  const textOf = (rows: Awaited<ReturnType<typeof records>>) => rows.find(({ key }) => key === holderKey)?.["text"];

  // From here on no commit reaches the standby; sessions that are given up commit on the primary alone.
  wire.mode = "black-hole";
  const hung = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
  await expect.poll(async () => (await runSql(primary.url, hung)).length, patience).toBeGreaterThan(0);
  const untilMs = holder.source.status().grant!.untilMs;
  let isHeirGranted = false;
  const heirStarting = IssuingWorker.start(options).then((heir) => {
    isHeirGranted = true;
    return heir;
  });
  heirStarting.catch(() => {});
  const copied = await records(standby);
  // The trap is there: on the primary are writes that nobody answered, of the holder and of one that starts.
  await expect.poll(async () => (await records(primary)).length, patience).toBeGreaterThan(copied.length);
  await expect.poll(async () => textOf(await records(primary)), patience).not.toEqual(textOf(copied));
  await sleep(3 * times.storeTimeoutMs);
  expect(await records(standby)).toEqual(copied);
  // The window has not grown since, and when it is over no ID is given out.
  expect([undefined, untilMs]).toContain(holder.source.status().grant?.untilMs);
  await expect.poll(() => holder.source.state.kind, patience).not.toBe("serving");
  expect(isHeirGranted).toBe(false);

  await primary.kill();
  await runSql(standby.url, "SELECT pg_promote()", "ALTER SYSTEM SET synchronous_standby_names = ''");
  await runSql(standby.url, "SELECT pg_reload_conf()");
  const heir = await heirStarting;
  await expect.poll(() => [holder.source.state.kind, heir.source.state.kind], patience).toEqual(["serving", "serving"]);
  const before = holder.ids.length;
  await expect.poll(() => Math.min(holder.ids.length - before, heir.ids.length), patience).toBeGreaterThan(200);
  await Promise.all([holder.stop(), heir.stop()]);
  expect(duplicatesOf(holder.ids, heir.ids)).toEqual([]);
});
