/** GET /metrics: who may read it, and whether every metric of the table is there. */
import { readFileSync } from "node:fs";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SequenceService } from "../../src/gen/snowlane/v1/sequence_service_pb.ts";
import { metricTable } from "../../src/server/metrics/metric-table.ts";
import { askHttp1, askHttp2 } from "../support/http2/http-call.ts";
import { checkScrape } from "../support/metrics/check-scrape.ts";
import { callsLine, parseScrape, scrape, scrapeText } from "../support/metrics/scrape.ts";
import { type Certificates, makeCertificates } from "../support/processes/certificates.ts";
import { bearer, principalsFile } from "../support/processes/principals-file.ts";
import { runServer } from "../support/processes/running-server.ts";

const nextId = "snowlane.v1.IdService/NextId";
const get = { path: "/metrics", method: "GET", headers: {} };
let certificates: Certificates;

beforeAll(async () => {
  certificates = await makeCertificates();
});
afterAll(() => certificates.remove());

test("GET /metrics has the calls and the IDs, and no cache keeps it", async () => {
  const { url, faults } = await runServer();
  for (let count = 0; count < 3; count++) await askHttp2(url, { path: `/${nextId}`, body: "{}" });
  const { status, headers } = await askHttp1(url, get);
  expect([status, headers["content-type"]]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
  expect(headers["cache-control"]).toBe("no-store");
  const lines = await scrape(url);
  expect(lines.get(callsLine(nextId, "OK"))).toBe(3);
  expect(lines.get("snowlane_ids_issued_total")).toBe(3);
  expect(lines.get(`snowlane_call_seconds_count{method="${nextId}"}`)).toBe(3);
  expect(lines.get("snowlane_serving")).toBe(1);
  await checkScrape(await scrapeText(url));
  expect(faults).toEqual([]);
});

test("a scrape has every metric of the table and no other, and promtool finds no fault in it", async () => {
  const principals = principalsFile([{ name: "operator", permissions: ["all"] }]);
  const { certFile, keyFile } = certificates.server;
  const { address } = await runServer({ principals: principals.path, tlsCert: certFile, tlsKey: keyFile });
  const url = `https://${address}`;
  const ca = readFileSync(certificates.caFile);
  const headers = bearer("operator");
  const transport = createGrpcTransport({ baseUrl: url, nodeOptions: { ca } });
  const client = createClient(SequenceService, transport);
  await client.createSequence({ sequence: { name: "orders" } }, { headers });
  // The stock has an end once its rate is known; the list of worker IDs comes after the first scrape.
  const late = ["snowlane_sequence_stock_seconds", 'snowlane_worker_ids{state="held"}'];
  let text = "";
  await expect
    .poll(
      async () => {
        for await (const _ of client.batchNextValues({ name: "orders", count: 500n }, { headers }));
        text = await scrapeText(url, { headers, ca });
        return late.filter((line) => !parseScrape(text).has(line));
      },
      { timeout: 60_000 },
    )
    .toEqual([]);
  const named = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]);
  // The clock of an SQLite store is ours, and no receiver of traces is named.
  const absent = new Set([
    "snowlane_store_clock_ahead_seconds",
    "snowlane_sampled_calls_total",
    "snowlane_principal_quota_ids_per_second",
  ]);
  const expected = Object.entries(metricTable).filter(([name]) => !absent.has(name));
  expect(named).toEqual(expected.map(([name, { type }]) => [name, type]));
  await checkScrape(text);
  const lines = parseScrape(text);
  expect(lines.get('snowlane_worker_ids{state="held"}')).toBe(1);
  expect(lines.get('snowlane_connections{protocol="http2"}')).toBe(1);
  expect(lines.get("snowlane_principals")).toBe(1);
  expect(lines.get('snowlane_principal_ids_total{principal="operator"}')).toBe(
    lines.get("snowlane_values_issued_total"),
  );
  expect(lines.get("snowlane_tls_expiry_seconds")).toBeGreaterThan(Date.now() / 1_000);
  expect(lines.get("snowlane_values_issued_total")! % 500).toBe(0);
});

test("a scrape needs the permission observe where callers need credentials", async () => {
  const principals = principalsFile([
    { name: "scraper", permissions: ["observe"] },
    { name: "shop", permissions: ["ids"] },
  ]);
  const { url } = await runServer({ principals: principals.path });
  const nobody = await askHttp1(url, get);
  expect([nobody.status, nobody.headers["www-authenticate"]]).toEqual([401, 'Bearer realm="snowlane"']);
  expect(nobody.body.toString()).toMatch(/^MISSING_CREDENTIALS: .+\n$/);
  const shop = await askHttp1(url, { ...get, headers: bearer("shop") });
  expect([shop.status, shop.body.toString()]).toEqual([403, expect.stringMatching(/^METHOD_DENIED: .*observe.*\n$/)]);
  const lines = await scrape(url, { headers: bearer("scraper") });
  expect(lines.get("snowlane_serving")).toBe(1);
  // A guess here is counted as one by a call is, and no call is counted.
  expect(lines.get('snowlane_refused_total{why="credentials"}')).toBe(1);
  expect(lines.get('snowlane_refused_total{why="permission"}')).toBe(1);
  expect([...lines].filter(([line, count]) => line.startsWith("snowlane_calls_total") && count > 0)).toEqual([]);
});

test("metrics are only read: other methods are 405, and with --metrics off the path is unknown", async () => {
  const { url } = await runServer();
  const { status, headers } = await askHttp1(url, { ...get, method: "POST", body: "{}" });
  expect([status, headers["allow"]]).toEqual([405, "GET, HEAD"]);
  const head = await askHttp1(url, { ...get, method: "HEAD" });
  expect([head.status, head.body.length]).toEqual([200, 0]);
  const off = await runServer({ metrics: "off" });
  expect((await askHttp1(off.url, get)).status).toBe(404);
});
