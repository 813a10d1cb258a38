import type { Interceptor } from "@connectrpc/connect";
import { expect, onTestFinished, test } from "vitest";
import type { ScriptedIdServer } from "../../../test/support/processes/scripted-id-server.ts";
import { answerNextId, serve } from "../test/raw-call.ts";
import { collect, connect, errorOf, startServer } from "../test/scripted-client.ts";
import { SnowlaneError, type StatusCode } from "./errors.ts";
import type { AttemptEvent } from "./observer.ts";
import { createWebClient } from "./web.ts";

const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

test("interceptors pass on the caller's trace, for calls, streams and both requests of a refill", async () => {
  const server = await startServer();
  const seen: string[] = [];
  const trace: Interceptor = (next) => async (request) => {
    request.header.set("traceparent", traceparent);
    seen.push(request.url);
    return next(request);
  };
  const client = connect([server], { interceptors: [trace], token: "secret" });
  await client.nextId();
  await collect(client.stream(10));
  await client.prefetch().nextId();
  expect(server.calls.map(({ method }) => method)).toEqual(["nextId", "batchNextIds", "reserveIds"]);
  for (const { context } of server.calls) {
    expect(context.requestHeader.get("traceparent")).toBe(traceparent);
    expect(context.requestHeader.get("authorization")).toBe("Bearer secret");
    expect(context.requestHeader.get("user-agent")).toMatch(/^snowlane-typescript\/\d/);
  }
  expect(server.calls[0]?.context.timeoutMs()).toBeGreaterThan(0);
  expect(seen[0]).toBe(`${server.url}/snowlane.v1.IdService/NextId`);
});

test("a deadline and a cancel hold through interceptors", async () => {
  const server = await startServer();
  server.handlers = { nextId: () => new Promise(() => {}) };
  const client = connect([server], { interceptors: [(next) => next], retryMax: 0 });
  expect((await errorOf(client.nextId({ timeoutMs: 100 }))).reason).toBe("DEADLINE_EXCEEDED");
  const controller = new AbortController();
  const call = errorOf(client.nextId({ signal: controller.signal }));
  controller.abort();
  expect((await call).reason).toBe("CANCELLED");
});

test("interceptors are a list of functions", () => {
  for (const interceptors of [{}, [5]])
    expect(() => connect([], { endpoints: ["http://a"], interceptors: interceptors as never })).toThrow(
      "interceptors must be an array of functions.",
    );
  const client = createWebClient({ endpoints: ["http://a"], interceptors: [(next) => next] });
  client.close();
});

test("the observer learns of both requests of a refill, and which one is the hedge", async () => {
  const servers = [await startServer(), await startServer()];
  const attempts: AttemptEvent[] = [];
  const observer = { onAttempt: (event: AttemptEvent) => void attempts.push(event) };
  const client = connect(servers, { attemptTimeoutMs: 12_000, timeoutMs: 60_000, observer });
  await client.nextId();
  const used = servers.find(({ calls }) => calls.some(({ method }) => method === "nextId")) as ScriptedIdServer;
  const other = servers.find((server) => server !== used) as ScriptedIdServer;
  used.handlers = { reserveIds: () => new Promise(() => {}) };
  await client.prefetch({ maxAgeMs: 60_000 }).nextId();
  expect(attempts.slice(1)).toMatchObject([
    { method: "ReserveIds", endpoint: used.url, attempt: 1, isHedge: false, reason: "CANCELLED" },
    { method: "ReserveIds", endpoint: other.url, attempt: 1, isHedge: true },
  ]);
  expect(attempts[2]).not.toHaveProperty("reason");
});

test("ready connects, or reserves, and takes no ID", async () => {
  const server = await startServer();
  server.handlers = { getInfo: () => ({}) };
  const client = connect([server]);
  await client.ready();
  expect(server.calls.map(({ method }) => method)).toEqual(["getInfo"]);
  const buffer = client.prefetch();
  const waiting = buffer.nextId();
  await buffer.ready();
  expect(await waiting).toBe(1n);
  await buffer.ready();
  const { handedOut, stock } = buffer.stats();
  expect([handedOut, stock]).toEqual([1, 7]);
  expect(buffer.nextIdSync()).toBe(2n);
  const other = client.prefetch();
  await other.ready();
  expect(other.stats().handedOut).toBe(0);
  other.close();
  expect((await errorOf(other.ready())).reason).toBe("CLIENT_CLOSED");
  await server.kill();
  const dry = client.prefetch();
  onTestFinished(() => dry.close());
  expect((await errorOf(dry.ready({ timeoutMs: 50 }))).reason).toMatch(/UNREACHABLE|DEADLINE_EXCEEDED/);
});

test("after a pause of the process an answer that is there is taken, though time is up", async () => {
  let isBusy = false;
  const server = await serve((request) => {
    answerNextId(request);
    // The answer has left the server, and the client can read it only after its time is up.
    const untilMs = performance.now() + (isBusy ? 1_500 : 0);
    while (performance.now() < untilMs);
  });
  const client = connect([], { endpoints: [server.url], retryMax: 0, timeoutMs: 1_000 });
  expect(await client.nextId({ timeoutMs: 60_000 })).toBe(1n);
  isBusy = true;
  expect(await client.nextId()).toBe(3n);
});

test("passes says whether waiting can cure an error", () => {
  const passes = (code: StatusCode): boolean => new SnowlaneError("RPC_FAILED", "", { code }).passes();
  const cured: readonly StatusCode[] = [
    "UNAVAILABLE",
    "RESOURCE_EXHAUSTED",
    "DEADLINE_EXCEEDED",
    "INTERNAL",
    "ABORTED",
  ];
  const lasting: readonly StatusCode[] = ["INVALID_ARGUMENT", "UNAUTHENTICATED", "PERMISSION_DENIED", "UNIMPLEMENTED"];
  expect(cured.map(passes)).toEqual(cured.map(() => true));
  expect([...lasting, "FAILED_PRECONDITION" as const].map(passes)).not.toContain(true);
});
