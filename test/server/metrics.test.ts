/** GET /metrics: what a server counts is what its callers have seen. */
import { expect, test } from "vitest";
import { askHttp1, askHttp2 } from "../support/http2/http-call.ts";
import { callsLine, scrape } from "../support/metrics/scrape.ts";
import { bearer, principalsFile } from "../support/processes/principals-file.ts";
import { runServer } from "../support/processes/running-server.ts";

const nextId = "snowlane.v1.IdService/NextId";
const get = { path: "/metrics", method: "GET", headers: {} };

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
  expect(faults).toEqual([]);
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
  expect((await scrape(url, bearer("scraper"))).get("snowlane_serving")).toBe(1);
});

test("metrics are only read: other methods are 405, and with --metrics off the path is none", async () => {
  const { url } = await runServer();
  const { status, headers } = await askHttp1(url, { ...get, method: "POST", body: "{}" });
  expect([status, headers["allow"]]).toEqual([405, "GET, HEAD"]);
  const head = await askHttp1(url, { ...get, method: "HEAD" });
  expect([head.status, head.body.length]).toEqual([200, 0]);
  const off = await runServer({ metrics: "off" });
  expect((await askHttp1(off.url, get)).status).toBe(404);
});
