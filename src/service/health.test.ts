import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../gen/grpc/health/v1/health_pb.ts";
import { createHealth } from "./health.ts";

function setUp() {
  let serving = true;
  const listeners = new Set<() => void>();
  const drain = new AbortController();
  const source = {
    isServing: () => serving,
    onChange: (listener: () => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  const transport = createRouterTransport((router) => {
    router.service(Health, createHealth({ "": source, "a.B": source }, drain.signal));
  });
  return {
    client: createClient(Health, transport),
    drain,
    listeners,
    turn: (to: boolean): void => {
      serving = to;
      for (const listener of listeners) listener();
    },
  };
}

test("Check tells what a service does now, and knows no other service", async () => {
  const { client, turn } = setUp();
  expect(await client.check({ service: "a.B" })).toMatchObject({ status: Status.SERVING });
  turn(false);
  expect(await client.check({})).toMatchObject({ status: Status.NOT_SERVING });
  for (const service of ["a.C", "constructor", "__proto__"]) {
    await expect(client.check({ service })).rejects.toMatchObject({ code: Code.NotFound });
  }
});

test("List tells of every service", async () => {
  const { statuses } = await setUp().client.list({});
  expect(Object.keys(statuses)).toEqual(["", "a.B"]);
});

test("Watch tells the status, then each change, and lets go when the watcher leaves", async () => {
  const { client, listeners, turn } = setUp();
  const leave = new AbortController();
  const seen: Status[] = [];
  const watching = (async () => {
    for await (const { status } of client.watch({ service: "a.B" }, { signal: leave.signal })) {
      seen.push(status);
      if (seen.length < 4) turn(status !== Status.SERVING);
      else leave.abort();
    }
  })();
  await expect(watching).rejects.toMatchObject({ code: Code.Canceled });
  expect(seen).toEqual([Status.SERVING, Status.NOT_SERVING, Status.SERVING, Status.NOT_SERVING]);
  await expect.poll(() => listeners.size).toBe(0);
});

test("Watch of an unknown service says so and goes on", async () => {
  const { client } = setUp();
  for await (const { status } of client.watch({ service: "a.C" })) {
    expect(status).toBe(Status.SERVICE_UNKNOWN);
    break;
  }
});

test("a watcher hears NOT_SERVING before a stop lets go of it", async () => {
  const { client, drain, turn } = setUp();
  const seen: Status[] = [];
  const watching = (async () => {
    for await (const { status } of client.watch({})) {
      seen.push(status);
      if (status !== Status.SERVING) continue;
      turn(false);
      drain.abort(new ConnectError("gone", Code.Unavailable));
    }
  })();
  await expect(watching).rejects.toMatchObject({ code: Code.Unavailable });
  expect(seen).toEqual([Status.SERVING, Status.NOT_SERVING]);
});
