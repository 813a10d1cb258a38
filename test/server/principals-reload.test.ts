/** A server whose file of principals is replaced, broken and removed while it runs. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { expect, onTestFinished, test } from "vitest";
import { IdService } from "../../src/gen/snowlane/v1/id_service_pb.ts";
import { askHttp2, type HttpAnswer } from "../support/http2/http-call.ts";
import { boundByModes } from "../support/processes/bound-by-modes.ts";
import { makeCertificates } from "../support/processes/certificates.ts";
import { findFreePort } from "../support/processes/free-port.ts";
import { bearer, principalsFile, tokenOf, writePrincipals } from "../support/processes/principals-file.ts";
import { runServer, temporaryFolder } from "../support/processes/running-server.ts";
import { bundledSnowlane } from "../support/processes/server-bundle.ts";
import { startSnowlane } from "../support/processes/snowlane-process.ts";

const http2 = process.env["SNOWLANE_TEST_HTTP2"] ?? "engine";
const ids = ["ids"];

const nextId = (url: string, name: string): Promise<HttpAnswer> =>
  askHttp2(url, {
    path: "/snowlane.v1.IdService/NextId",
    headers: { "content-type": "application/json", ...bearer(name) },
    body: "{}",
  });

async function start(principals: string, before: readonly string[] = []) {
  const store = `sqlite:${join(temporaryFolder(), "snowlane.db")}`;
  const args = ["--store", store, "--http2", http2, "--principals", principals];
  const server = await startSnowlane({ args, program: [...before, ...(await bundledSnowlane())] });
  onTestFinished(() => void server.stop("SIGTERM"));
  return server;
}

test("SIGHUP reads the file again: a good one is used, a broken one is not, and no token is in the log", async () => {
  const { path, write } = principalsFile([{ name: "first", permissions: ids }]);
  const server = await start(path);
  const statusOf = async (name: string): Promise<number> => (await nextId(server.url, name)).status;
  expect([await statusOf("first"), await statusOf("second")]).toEqual([200, 401]);
  write([{ name: "second", permissions: ids }]);
  server.child.kill("SIGHUP");
  await expect.poll(() => statusOf("second")).toBe(200);
  expect(await statusOf("first")).toBe(401);
  writeFileSync(path, `{ "principals": [{ "name": "second", "tokens": ["${tokenOf("first")}`);
  server.child.kill("SIGHUP");
  const refusals = () => server.log.filter(({ level }) => level === "error");
  await expect.poll(() => refusals().length).toBe(1);
  expect(refusals()[0]).toMatchObject({ message: "The principals cannot be read; the earlier ones stay" });
  expect(await statusOf("second")).toBe(200);
  rmSync(path);
  server.child.kill("SIGHUP");
  await expect.poll(() => JSON.stringify(refusals())).toContain("ENOENT");
  expect([await statusOf("second"), await statusOf("first")]).toEqual([200, 401]);
  for (const name of ["first", "second"]) expect(JSON.stringify(server.log)).not.toContain(tokenOf(name));
  expect(await server.stop("SIGTERM")).toBe(0);
});

test("a file that the server may no longer read changes nothing, and is read once it may be", async () => {
  const { path } = principalsFile([{ name: "first", permissions: ids }]);
  const server = await start(path, boundByModes);
  const statusOf = async (name: string): Promise<number> => (await nextId(server.url, name)).status;
  const next = principalsFile([{ name: "second", permissions: ids }]);
  chmodSync(next.path, 0o000);
  renameSync(next.path, path);
  server.child.kill("SIGHUP");
  const refusals = () => server.log.filter(({ level }) => level === "error");
  await expect.poll(() => JSON.stringify(refusals())).toContain("EACCES");
  expect([await statusOf("first"), await statusOf("second")]).toEqual([200, 401]);
  chmodSync(path, 0o600);
  server.child.kill("SIGHUP");
  await expect.poll(() => statusOf("second")).toBe(200);
  expect(await statusOf("first")).toBe(401);
});

test("SIGHUP does not end a server that still waits for its worker ID", async () => {
  const { path } = principalsFile([{ name: "app", permissions: ids }]);
  const listen = `127.0.0.1:${await findFreePort()}`;
  const args = ["--store", "postgres://nobody@127.0.0.1:1/none", "--http2", http2, "--principals", path];
  const spawned = Promise.withResolvers<ChildProcess>();
  startSnowlane({ args, listen, onSpawn: spawned.resolve }).catch(() => undefined);
  const child = await spawned.promise;
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = once(child, "exit");
  const isOpen = async (): Promise<number> => (await fetch(`http://${listen}/healthz`)).status;
  await expect.poll(() => isOpen().catch(() => 0)).toBe(200);
  // Of two signals that wait, the system gives a process the one with the lower number first.
  child.kill("SIGHUP");
  child.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
});

test("SIGHUP does not end a server that drains: it reads the file, and the worker ID is given back", async () => {
  const app = { name: "app", permissions: ids, idsPerSecond: 1_000 };
  const { path, write } = principalsFile([app]);
  const server = await start(path);
  const client = createClient(IdService, createGrpcTransport({ baseUrl: server.url }));
  const abort = new AbortController();
  const options = { headers: bearer("app"), signal: abort.signal };
  const stream = client.batchNextIds({ count: 1_000_000_000n }, options)[Symbol.asyncIterator]();
  await stream.next();
  const ended = once(server.child, "exit");
  const hasLine = (message: string): boolean => server.log.some((line) => line["message"] === message);
  server.child.kill("SIGTERM");
  await expect.poll(() => hasLine("Stops")).toBe(true);
  write([app, { name: "other", permissions: ids }]);
  server.child.kill("SIGHUP");
  const outcome = (): string | null =>
    server.child.signalCode ?? (hasLine("The principals were read again") ? "read" : null);
  await expect.poll(outcome).toBe("read");
  abort.abort();
  expect(await ended).toEqual([0, null]);
  expect(hasLine("Stopped")).toBe(true);
});

test("without a file to read again, SIGHUP ends the server as it ends every program", async () => {
  const server = await startSnowlane({ args: ["--store", `sqlite:${join(temporaryFolder(), "snowlane.db")}`] });
  const ended = once(server.child, "exit");
  server.child.kill("SIGHUP");
  expect(await ended).toEqual([null, "SIGHUP"]);
});

test("callers who stay notice nothing of a file that is replaced again and again", async () => {
  const { path, write } = principalsFile([{ name: "stays", permissions: ids }]);
  const { url, reload, faults } = await runServer({ principals: path });
  const statuses: number[] = [];
  const callers = Array.from({ length: 8 }, async () => {
    for (let left = 25; left > 0; left--) statuses.push((await nextId(url, "stays")).status);
  });
  let count = 0;
  const replacing = setInterval(() => {
    write([
      { name: `other-${count++}`, permissions: ids },
      { name: "stays", permissions: ids },
    ]);
    reload();
  }, 1);
  await Promise.all(callers);
  clearInterval(replacing);
  expect(count).toBeGreaterThan(1);
  expect(statuses).toEqual(Array.from({ length: 200 }, () => 200));
  expect(faults).toEqual([]);
});

const plaintextWarnings = (log: readonly string[]): number =>
  log.filter((line) => line.includes("Tokens come over the network in plaintext")).length;

test("a server that takes tokens in plaintext from other machines warns once, and others do not", async () => {
  const warnings = async (flags: Readonly<Record<string, string>>): Promise<number> => {
    const { path: principals, write } = principalsFile([{ name: "app", permissions: ids }]);
    const store = `sqlite:${join(temporaryFolder(), "ids.db")}`;
    const { log, reload } = await runServer({ principals, store, ...flags });
    write([{ name: "other", permissions: ids }]);
    reload();
    return plaintextWarnings(log);
  };
  const { server, remove } = await makeCertificates();
  onTestFinished(remove);
  expect(await warnings({ listen: "0.0.0.0:0" })).toBe(1);
  expect(await warnings({ listen: "127.0.0.1:0" })).toBe(0);
  expect(await warnings({ listen: "0.0.0.0:0", tlsCert: server.certFile, tlsKey: server.keyFile })).toBe(0);
});

// It was used without a word.
test("OPERATIONS 7: a file of principals that every user of the machine may read is warned of at the start", async () => {
  const { path: principals } = principalsFile([{ name: "app", permissions: ids }]);
  const linesOf = async (): Promise<readonly unknown[]> => {
    const { log } = await runServer({ principals });
    return log.map((line) => JSON.parse(line) as { message: string }).filter(({ message }) => message === readable);
  };
  const readable = "Every user of this machine may read a file of secrets";
  expect(await linesOf()).toEqual([]);
  chmodSync(principals, 0o644);
  expect(await linesOf()).toMatchObject([{ level: "warn", setting: "principals", path: principals }]);
});

test("tokens in plaintext that a later file brings are warned of (they were not)", async () => {
  const path = join(temporaryFolder(), "principals.json");
  const byCertificate = { name: "app", permissions: ids, certificates: ["dns:app"] };
  writeFileSync(path, JSON.stringify({ principals: [byCertificate] }));
  const store = `sqlite:${join(temporaryFolder(), "ids.db")}`;
  const { log, reload } = await runServer({ listen: "0.0.0.0:0", principals: path, store });
  expect(plaintextWarnings(log)).toBe(0);
  writePrincipals(path, [byCertificate]);
  reload();
  expect(plaintextWarnings(log)).toBe(1);
});
