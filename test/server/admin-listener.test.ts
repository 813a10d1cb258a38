/** --admin-listen: metrics, probes and AdminService on a listener of their own. */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { expect, test } from "vitest";
import { formatAddress } from "../../src/config/address.ts";
import { AdminService } from "../../src/gen/snowlane/v1/admin_service_pb.ts";
import { IdService } from "../../src/gen/snowlane/v1/id_service_pb.ts";
import { askHttp1, askHttp2 } from "../support/http2/http-call.ts";
import { callsLine, scrape } from "../support/metrics/scrape.ts";
import { makeCertificates } from "../support/processes/certificates.ts";
import { bearer, principalsFile } from "../support/processes/principals-file.ts";
import { runServer, temporaryFolder } from "../support/processes/running-server.ts";

const adminListen = "127.0.0.1:0";
const patience = { timeout: 60_000, interval: 20 };
const get = { method: "GET", headers: {} };
const nextId = "snowlane.v1.IdService/NextId";

async function start(flags: Readonly<Record<string, string>> = {}) {
  const running = await runServer({ adminListen, ...flags });
  const scheme = flags["tlsCert"] === undefined ? "http" : "https";
  return { ...running, adminUrl: `${scheme}://${formatAddress(running.server.adminAddress!)}` };
}

test("operators have metrics, probes and AdminService there, and no IDs", async () => {
  const { url, adminUrl, faults } = await start();
  await askHttp2(url, { path: `/${nextId}`, body: "{}" });
  expect((await scrape(adminUrl)).get(callsLine(nextId, "OK"))).toBe(1);
  for (const path of ["/healthz", "/readyz"]) {
    expect((await askHttp1(adminUrl, { ...get, path })).status).toBe(200);
  }
  const admin = createClient(AdminService, createGrpcTransport({ baseUrl: adminUrl }));
  expect((await admin.listWorkers({})).workers).toHaveLength(1);
  const refused = await askHttp1(adminUrl, { path: `/${nextId}`, body: "{}" });
  expect(refused.status).toBe(404);
  expect((await askHttp1(adminUrl, { ...get, path: "/" })).status).toBe(404);
  // A name that is not an address and not localhost: a page that rebinds it.
  const rebound = await askHttp1(adminUrl, { ...get, path: "/metrics", headers: { host: "evil.example" } });
  expect(rebound.status).toBe(403);
  expect(faults).toEqual([]);
});

test("with principals a scrape on loopback needs no token, and AdminService does", async () => {
  const principals = principalsFile([{ name: "operator", permissions: ["observe"] }]).path;
  const { url, adminUrl } = await start({ principals });
  expect((await scrape(adminUrl)).get("snowlane_serving")).toBe(1);
  expect((await askHttp1(url, { ...get, path: "/metrics" })).status).toBe(401);
  const path = "/snowlane.v1.AdminService/ListWorkers";
  expect((await askHttp1(adminUrl, { path, body: "{}" })).status).toBe(401);
  const headers = { ...bearer("operator"), "content-type": "application/json" };
  expect((await askHttp1(adminUrl, { path, headers, body: "{}" })).status).toBe(200);
});

test("on an address that other machines reach, metrics need the permission observe, and probes need nothing", async () => {
  const principals = principalsFile([
    { name: "operator", permissions: ["observe"] },
    { name: "app", permissions: ["ids"] },
  ]).path;
  const { server } = await start({ principals, adminListen: "0.0.0.0:0" });
  const adminUrl = `http://127.0.0.1:${server.adminAddress!.port}`;
  const statusOf = async (path: string, headers: Readonly<Record<string, string>> = {}): Promise<number> =>
    (await askHttp1(adminUrl, { ...get, path, headers })).status;
  for (const path of ["/healthz", "/readyz"]) expect([path, await statusOf(path)]).toEqual([path, 200]);
  const callers = [{}, bearer("nobody"), bearer("app"), bearer("operator")];
  const statuses = await Promise.all(callers.map((headers) => statusOf("/metrics", headers)));
  expect(statuses).toEqual([401, 401, 403, 200]);
});

test("over TLS it asks for no client certificate, so AdminService is closed without principals", async () => {
  const certificates = await makeCertificates();
  try {
    const { certFile, keyFile } = certificates.server;
    const { adminUrl } = await start({ tlsCert: certFile, tlsKey: keyFile, tlsClientCa: certificates.caFile });
    const ca = readFileSync(certificates.caFile);
    expect((await scrape(adminUrl, { ca })).get("snowlane_serving")).toBe(1);
    const admin = createClient(AdminService, createGrpcTransport({ baseUrl: adminUrl, nodeOptions: { ca } }));
    await expect(admin.listWorkers({})).rejects.toThrow(/asks for no certificate/);
  } finally {
    certificates.remove();
  }
});

test("servers that share a port have their metrics there alone", async () => {
  const { url, adminUrl } = await start({ reusePort: "true", instance: "one" });
  const { status, body } = await askHttp1(url, { ...get, path: "/metrics" });
  expect([status, body.toString()]).toEqual([404, expect.stringContaining("--admin-listen")]);
  expect((await scrape(adminUrl)).get("snowlane_serving")).toBe(1);
});

const readyOf = async (url: string): Promise<string> => {
  const { status, body } = await askHttp1(url, { ...get, path: "/readyz" });
  return `${status} ${body.toString().split(":")[0]!.trim()}`;
};

test("while the server drains, it answers fresh probes: alive, and not ready for the reason that callers get", async () => {
  const { url, adminUrl, server } = await start();
  const abort = new AbortController();
  const client = createClient(IdService, createGrpcTransport({ baseUrl: url }));
  const stream = client.batchNextIds({ count: 1_000_000_000n }, { signal: abort.signal })[Symbol.asyncIterator]();
  await stream.next();
  expect(await readyOf(adminUrl)).toBe("200 ok");
  const stopped = server.stop();
  await expect.poll(() => readyOf(adminUrl), patience).toBe("503 SHUTTING_DOWN");
  expect((await askHttp1(adminUrl, { ...get, path: "/healthz" })).status).toBe(200);
  await expect(askHttp1(url, { ...get, path: "/readyz" })).rejects.toThrow(/ECONNREFUSED/);
  abort.abort();
  await stopped;
});

test("without its worker ID the server is not ready there either", async () => {
  const folder = temporaryFolder();
  const store = `sqlite:${join(folder, "snowlane.db")}`;
  const { adminUrl } = await start({ store, window: "1s", renewalPeriod: "100ms", waitMax: "0ms" });
  expect(await readyOf(adminUrl)).toBe("200 ok");
  for (const end of ["", "-journal", "-wal", "-shm"]) rmSync(join(folder, `snowlane.db${end}`), { force: true });
  await expect
    .poll(() => readyOf(adminUrl), patience)
    .toMatch(/^503 (STORE_WENT_BACK|STORE_UNAVAILABLE|WINDOW_EXPIRED|WORKER_LEASE_LOST)$/);
});

test("a stop ends it, too", async () => {
  const { adminUrl, server } = await start();
  await server.stop();
  await expect(askHttp1(adminUrl, { ...get, path: "/healthz" })).rejects.toThrow(/ECONNREFUSED/);
});
