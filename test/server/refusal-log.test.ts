/** Lines about calls that were refused, of a real server. */
import { expect, test } from "vitest";
import { formatAddress } from "../../src/config/address.ts";
import { askHttp1, askHttp2 } from "../support/http2/http-call.ts";
import { bearer, principalsFile, tokenOf } from "../support/processes/principals-file.ts";
import { runServer } from "../support/processes/running-server.ts";

const nextId = "/snowlane.v1.IdService/NextId";
const json = { "content-type": "application/json" };

async function refuseAll(logCalls: string) {
  const { path } = principalsFile([
    { name: "reader", permissions: ["observe"] },
    { name: "app", permissions: ["ids"], idsPerSecond: 1 },
  ]);
  const { url, log } = await runServer({ principals: path, logCalls });
  const call = (headers: Readonly<Record<string, string>>, ask = askHttp2) =>
    ask(url, { path: nextId, headers: { ...json, ...headers }, body: "{}" });
  await call({ authorization: "Bearer guessed-secret" });
  await call(bearer("reader"), askHttp1);
  await call(bearer("app"));
  await call(bearer("app"));
  await call({ ...bearer("app"), host: "evil.test" }, askHttp1);
  await askHttp1(url, { path: "/metrics", method: "GET", headers: bearer("app") });
  for (let count = 0; count < 30; count++) await call({});
  return log.map((line) => JSON.parse(line)).filter(({ message }) => message === "A call was refused");
}

test("--log-calls refused names reason, method, principal and address, at most ten times a reason, and no token", async () => {
  const lines = await refuseAll("refused");
  const method = nextId.slice(1);
  const line = (reason: string, principal?: string) =>
    expect.objectContaining({ level: "info", reason, method, address: "127.0.0.1", ...(principal && { principal }) });
  expect(lines.slice(0, 5)).toEqual([
    line("MISSING_CREDENTIALS"),
    line("METHOD_DENIED", "reader"),
    line("QUOTA_EXCEEDED", "app"),
    expect.objectContaining({ reason: "HOST_NOT_ALLOWED", address: "127.0.0.1" }),
    expect.objectContaining({ reason: "METHOD_DENIED", method: "metrics", principal: "app", address: "127.0.0.1" }),
  ]);
  expect(lines.filter(({ reason }) => reason === "MISSING_CREDENTIALS")).toHaveLength(10);
  expect(JSON.stringify(lines)).not.toContain("guessed-secret");
  expect(JSON.stringify(lines)).not.toContain(tokenOf("app"));
});

test("a header names no caller and no address, as a proxy would name them: those of the connection count", async () => {
  const { path } = principalsFile([
    { name: "app", permissions: ["ids"], certificates: ["uri:spiffe://prod/app", "dns:app", "ip:203.0.113.9"] },
  ]);
  const { url, log } = await runServer({ principals: path, logCalls: "refused" });
  const forged = {
    forwarded: "for=203.0.113.9;host=app",
    "x-forwarded-for": "203.0.113.9",
    "x-real-ip": "203.0.113.9",
    "x-forwarded-client-cert": "By=dns:server;URI=spiffe://prod/app;DNS=app",
    "x-client-cert": "uri:spiffe://prod/app",
    "x-ssl-client-s-dn": "CN=app",
    "x-remote-user": "app",
  };
  for (const ask of [askHttp1, askHttp2]) {
    const { status } = await ask(url, { path: nextId, headers: { ...json, ...forged }, body: "{}" });
    expect(status).toBe(401);
  }
  const refused = log.map((line) => JSON.parse(line)).filter(({ message }) => message === "A call was refused");
  const line = { reason: "MISSING_CREDENTIALS", address: "127.0.0.1" };
  expect(refused).toEqual([expect.objectContaining(line), expect.objectContaining(line)]);
  for (const entry of refused) expect(entry).not.toHaveProperty("principal");
});

test("a call that the admin listener refuses has its line, and counts against the same quota", async () => {
  const { path } = principalsFile([
    { name: "operator", permissions: ["observe"], callsPerSecond: 1 },
    { name: "app", permissions: ["ids"] },
  ]);
  const { server, log } = await runServer({ principals: path, logCalls: "refused", adminListen: "127.0.0.1:0" });
  const adminUrl = `http://${formatAddress(server.adminAddress!)}`;
  const listWorkers = "/snowlane.v1.AdminService/ListWorkers";
  const call = async (headers: Readonly<Record<string, string>>) =>
    (await askHttp2(adminUrl, { path: listWorkers, headers: { ...json, ...headers }, body: "{}" })).status;
  expect([await call({ authorization: "Bearer guessed-secret" }), await call(bearer("app"))]).toEqual([401, 403]);
  await expect.poll(() => call(bearer("operator")), { interval: 1 }).toBe(429);
  const refused = log.map((line) => JSON.parse(line)).filter(({ message }) => message === "A call was refused");
  const line = { method: listWorkers.slice(1), address: "127.0.0.1" };
  expect(refused).toEqual([
    expect.objectContaining({ ...line, reason: "MISSING_CREDENTIALS" }),
    expect.objectContaining({ ...line, reason: "METHOD_DENIED", principal: "app" }),
    expect.objectContaining({ ...line, reason: "QUOTA_EXCEEDED", principal: "operator" }),
  ]);
  expect(JSON.stringify(log)).not.toContain("guessed-secret");
});

test("without it no call writes a line", async () => {
  expect(await refuseAll("none")).toEqual([]);
});
