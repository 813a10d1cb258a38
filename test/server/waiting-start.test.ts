/** A server that has no worker ID yet answers from the first moment, and says that it has none. */
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ErrorInfoSchema, RetryInfoSchema } from "../../src/gen/google/rpc/error_details_pb.ts";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../../src/gen/grpc/health/v1/health_pb.ts";
import { AdminService } from "../../src/gen/snowlane/v1/admin_service_pb.ts";
import { IdService, TextForm } from "../../src/gen/snowlane/v1/id_service_pb.ts";
import { checkScrape } from "../support/metrics/check-scrape.ts";
import { callsLine, parseScrape, scrapeText } from "../support/metrics/scrape.ts";
import { runCli } from "../support/processes/cli-outcome.ts";
import { findFreePort } from "../support/processes/free-port.ts";
import { principalsFile } from "../support/processes/principals-file.ts";
import { beginServer, runServer, temporaryFolder } from "../support/processes/running-server.ts";

const patience = { timeout: 60_000, interval: 50 };

/** Begins to start a server, and waits until its port is open. */
async function begin(flags: Readonly<Record<string, string>>) {
  const address = `127.0.0.1:${await findFreePort()}`;
  const begun = beginServer({ listen: address, waitMax: "0ms", ...flags });
  begun.starting.catch(() => {});
  onTestFinished(() => begun.end());
  const url = `http://${address}`;
  const isOpen = async (): Promise<number> => (await fetch(`${url}/healthz`)).status;
  await expect.poll(() => isOpen().catch(() => 0), patience).toBe(200);
  return { ...begun, url };
}

/** Of the stores below: address, user and file. */
const places = /127\.0\.0\.1|nobody|\.db/;

/** Expects an error that does not say where the store is. */
function expectNoPlace(error: ConnectError): void {
  const details = error.findDetails(ErrorInfoSchema).map(({ metadata }) => metadata);
  expect(`${error.rawMessage} ${JSON.stringify(details)}`).not.toMatch(places);
}

/** The answers of a server that waits: by the hot and the general way, over HTTP/2 and HTTP/1.1. */
async function expectRefusals(url: string): Promise<void> {
  for (const transport of [
    createGrpcTransport({ baseUrl: url }),
    createConnectTransport({ baseUrl: url, httpVersion: "1.1" }),
    createConnectTransport({ baseUrl: url, httpVersion: "2", useBinaryFormat: false }),
  ]) {
    const ids = createClient(IdService, transport);
    const calls: Readonly<Record<string, () => Promise<unknown>>> = {
      "NextId, hot": () => ids.nextId({}),
      "NextId, general": () => ids.nextId({ textFormat: { form: TextForm.HEX } }),
      ReserveIds: () => ids.reserveIds({ count: 3 }),
      BatchNextIds: () => ids.batchNextIds({ count: 3n })[Symbol.asyncIterator]().next(),
    };
    for (const [name, call] of Object.entries(calls)) {
      const error = ConnectError.from(await call().catch((cause: unknown) => cause));
      expect([name, error.code]).toEqual([name, Code.Unavailable]);
      const [retry] = error.findDetails(RetryInfoSchema);
      const { seconds = 0n, nanos = 0 } = retry?.retryDelay ?? {};
      expect(Number(seconds) + nanos, name).toBeGreaterThan(0);
      expectNoPlace(error);
    }
    const health = createClient(Health, transport);
    expect(await health.check({})).toMatchObject({ status: Status.NOT_SERVING });
    expect(await health.check({ service: IdService.typeName })).toMatchObject({ status: Status.NOT_SERVING });
    expect(await health.check({ service: AdminService.typeName })).toMatchObject({ status: Status.SERVING });
  }
  const ready = await fetch(`${url}/readyz`);
  expect([ready.status, await ready.text()]).toEqual([503, expect.not.stringMatching(places)]);
}

test.each(["engine", "node"])(
  "over %s, while the store has never answered, no layout is shown either, and the place of the store is shown nowhere",
  async (http2) => {
    const { url, faults, starting, end } = await begin({ store: "postgres://nobody@127.0.0.1:1/none", http2 });
    await expectRefusals(url);
    const transport = createGrpcTransport({ baseUrl: url });
    for (const call of [
      createClient(IdService, transport).getInfo({}),
      createClient(AdminService, transport).listWorkers({}),
    ]) {
      const error = ConnectError.from(await call.catch((cause: unknown) => cause));
      expect(error.code).toBe(Code.Unavailable);
      expectNoPlace(error);
    }
    const { status } = await createClient(AdminService, transport).getStatus({});
    expect(status).toMatchObject({ serving: false, notServingReason: "STORE_UNAVAILABLE", storeReachable: false });
    expect([status?.grantTime, status?.generation, status?.store]).toEqual([undefined, 0n, "postgres"]);
    await end();
    await expect(starting).rejects.toThrow();
    expect(faults).toEqual([]);
  },
);

test("its refusals are counted as UNAVAILABLE, and promtool finds no fault in its scrape", async () => {
  const { url, end } = await begin({ store: "postgres://nobody@127.0.0.1:1/none" });
  for (const transport of [
    createGrpcTransport({ baseUrl: url }),
    createConnectTransport({ baseUrl: url, httpVersion: "1.1" }),
  ]) {
    const ids = createClient(IdService, transport);
    for (const call of [ids.nextId({}), ids.nextId({}), ids.reserveIds({ count: 3 })]) {
      await expect(call).rejects.toMatchObject({ code: Code.Unavailable });
    }
  }
  const text = await scrapeText(url);
  await checkScrape(text);
  const lines = parseScrape(text);
  const counted = ["NextId", "ReserveIds"].map((name) =>
    lines.get(callsLine(`${IdService.typeName}/${name}`, "UNAVAILABLE")),
  );
  expect([...counted, lines.get("snowlane_serving")]).toEqual([4, 2, 0]);
  await end();
});

test("a server that waits reads its principals again at once after SIGHUP (they stayed for up to ten seconds)", async () => {
  const { path: principals, write } = principalsFile([{ name: "app", permissions: ["ids"] }]);
  const { log, reload, end } = await begin({ store: "postgres://nobody@127.0.0.1:1/none", principals });
  write([{ name: "other", permissions: ["ids"] }]);
  reload();
  expect(log.filter((line) => line.includes("The principals were read again"))).toHaveLength(1);
  await end();
});

test("in a quarantine and without a free worker ID, AdminService and GetInfo tell of the store", async () => {
  const store = `sqlite:${join(temporaryFolder(), "ids.db")}`;
  const times = { window: "1s", windowMax: "1s", renewalPeriod: "100ms", datacenterId: "1" };
  const first = await runServer({ store, ...times, workerId: "1" });
  const waiting = await begin({ store, ...times, workerId: "1", waitForWorkerId: "5m" });
  const told = async () => {
    const transport = createGrpcTransport({ baseUrl: waiting.url });
    const { deploymentFingerprint } = await createClient(IdService, transport).getInfo({});
    return [deploymentFingerprint, (await createClient(AdminService, transport).listWorkers({})).workers.length];
  };
  await expect.poll(() => told().catch(() => []), patience).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), 1]);
  await expectRefusals(waiting.url);
  const reason = ["--reason", "restored"];
  expect((await runCli(["workers", "quarantine", "--store", store, ...reason])).code).toBe(0);
  await first.server.stop();
  const quarantined = (): boolean => waiting.log.some((line) => line.includes('"for":"quarantine"'));
  await expect.poll(quarantined, patience).toBe(true);
  expect(await told()).toHaveLength(2);
  const { source } = await waiting.starting;
  expect(source.tryNext()).toBeTypeOf("bigint");
});

test("--start-timeout ends a start with the code of what it waited for", async () => {
  const serve = async (store: string, timeout: string, ...args: readonly string[]) => {
    const common = ["--listen", "127.0.0.1:0", "--log-level", "error", "--start-timeout", timeout];
    const { code, stderr } = await runCli(["serve", ...common, "--store", store, ...args]);
    return `${code} ${stderr}`;
  };
  const pinned = ["--datacenter-id", "1", "--worker-id", "1"];
  const held = `sqlite:${join(temporaryFolder(), "held.db")}`;
  const quarantined = `sqlite:${join(temporaryFolder(), "quarantined.db")}`;
  await runServer({ store: held, datacenterId: "1", workerId: "1" });
  expect((await runCli(["next", "--store", quarantined])).code).toBe(0);
  const until = ["--until", new Date(Date.now() + 3_600_000).toISOString(), "--reason", "restored"];
  expect((await runCli(["workers", "quarantine", "--store", quarantined, ...until])).code).toBe(0);
  const ends = await Promise.all([
    serve("postgres://nobody@127.0.0.1:1/none", "1s"),
    serve(held, "8s", ...pinned, "--wait-for-worker-id", "5m"),
    serve(quarantined, "8s"),
  ]);
  expect(ends).toEqual([
    expect.stringMatching(/^4 .*longer than 1\.0 s \(--start-timeout\)/),
    expect.stringMatching(/^6 .*There is no free worker ID/),
    expect.stringMatching(/^6 .*under quarantine/),
  ]);
});
