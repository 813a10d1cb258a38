/** What an orchestrator asks over plain HTTP: does the process answer, and is it ready for calls? */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { askHttp1, askHttp2, grpcFrame } from "../support/http2/http-call.ts";
import { principalsFile } from "../support/processes/principals-file.ts";
import { runServer, temporaryFolder } from "../support/processes/running-server.ts";

const grpc = { "content-type": "application/grpc", te: "trailers" };
const get = { method: "GET", headers: {} };

describe.each([
  ["HTTP/1.1", askHttp1],
  ["HTTP/2", askHttp2],
])("over %s", (_name, ask) => {
  test("a server that issues IDs is alive and ready, and no cache keeps that", async () => {
    const { url, faults } = await runServer({ page: "off" });
    for (const path of ["/healthz", "/readyz", "/readyz?verbose"]) {
      const { status, headers, body } = await ask(url, { ...get, path });
      expect([path, status, body.toString()]).toEqual([path, 200, "ok\n"]);
      expect(headers).toMatchObject({ "cache-control": "no-store", "x-content-type-options": "nosniff" });
      const head = await ask(url, { path, method: "HEAD", headers: {} });
      expect([head.status, head.body.length, head.headers["content-length"]]).toEqual([200, 0, "3"]);
    }
    expect(faults).toEqual([]);
  });

  test("a probe is only read: other methods are 405, and other paths are unknown", async () => {
    const { url } = await runServer();
    for (const path of ["/healthz", "/readyz"]) {
      const { status, headers } = await ask(url, { path, body: "{}" });
      expect([path, status, headers["allow"]]).toEqual([path, 405, "GET, HEAD"]);
      expect((await ask(url, { ...get, path: `${path}/` })).status).toBe(404);
    }
  });

  test("a server that has lost its worker ID is alive and not ready, and says why", async () => {
    const folder = temporaryFolder();
    const store = `sqlite:${join(folder, "snowlane.db")}`;
    const { url, server } = await runServer({ store, window: "1s", renewalPeriod: "100ms", waitMax: "0ms" });
    expect((await ask(url, { ...get, path: "/readyz" })).status).toBe(200);
    for (const end of ["", "-journal", "-wal", "-shm"]) rmSync(join(folder, `snowlane.db${end}`), { force: true });
    await expect.poll(async () => (await ask(url, { ...get, path: "/readyz" })).status).toBe(503);
    const { state } = server.source;
    const { body, headers } = await ask(url, { ...get, path: "/readyz" });
    expect(state.kind === "not-serving" && body.toString()).toMatch(
      /^(STORE_WENT_BACK|STORE_UNAVAILABLE|WINDOW_EXPIRED|WORKER_LEASE_LOST): .+\n$/,
    );
    expect(headers["cache-control"]).toBe("no-store");
    expect((await ask(url, { ...get, path: "/healthz" })).status).toBe(200);
  });
});

// FIELD F11 (f): a balancer that goes by the status of a call, such as AWS ALB, takes NOT_SERVING in a message for
// health.
test("the probe of gRPC succeeds while the server issues IDs, and fails by its status when it does not", async () => {
  const folder = temporaryFolder();
  const store = `sqlite:${join(folder, "snowlane.db")}`;
  const { path: principals } = principalsFile([{ name: "app", permissions: ["ids"] }]);
  const times = { window: "1s", renewalPeriod: "100ms", waitMax: "0ms" };
  const { url, faults } = await runServer({ store, principals, ...times });
  const ask = async (body: Buffer | string) => {
    const question = { path: "/snowlane.v1.Probe/Ready", headers: grpc, body };
    const { status, headers, trailers, body: answer } = await askHttp2(url, question);
    return { status, answer: answer.toString("hex"), ...headers, ...trailers };
  };
  for (const body of [grpcFrame(new Uint8Array(0)), "", "no message"]) {
    expect(await ask(body)).toMatchObject({ status: 200, answer: "0000000000", "grpc-status": "0" });
  }
  for (const end of ["", "-journal", "-wal", "-shm"]) rmSync(join(folder, `snowlane.db${end}`), { force: true });
  const status = async () => ((await ask("")) as Record<string, unknown>)["grpc-status"];
  await expect.poll(status).toBe("14");
  const { answer, "grpc-message": message } = (await ask("")) as Record<string, unknown>;
  expect([answer, message]).toEqual(["", expect.stringMatching(/^[A-Z_]+: ./)]);
  expect((await askHttp2(url, { ...get, path: "/readyz" })).status).toBe(503);
  expect(faults).toEqual([]);
});

test("a call of gRPC to the path of a probe gets a status of gRPC", async () => {
  const { url } = await runServer();
  const answer = await askHttp2(url, { path: "/readyz", headers: grpc, body: grpcFrame(new Uint8Array(0)) });
  expect([answer.status, answer.headers["grpc-status"]]).toEqual([200, "12"]);
});
