import { Code, ConnectError, createClient, createRouterTransport, type ServiceImpl } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../gen/grpc/health/v1/health_pb.ts";
import { AdminService } from "../gen/snowlane/v1/admin_service_pb.ts";
import { IdService } from "../gen/snowlane/v1/id_service_pb.ts";
import { createHealth } from "./health.ts";
import { defineService } from "./service.ts";

const ids = IdService.typeName;
const admin = AdminService.typeName;

/** Health over two services, of which the second always serves. */
function setUp() {
  let serving = true;
  const listeners = new Set<() => void>();
  const drain = new AbortController();
  const health = {
    isServing: () => serving,
    onChange: (listener: () => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  const services = [
    defineService({ descriptor: IdService, implementation: {} as ServiceImpl<typeof IdService>, health }),
    defineService({ descriptor: AdminService, implementation: {} as ServiceImpl<typeof AdminService> }),
  ];
  const { descriptor, implementation } = createHealth(services, drain.signal);
  const transport = createRouterTransport((router) => void router.service(descriptor, implementation));
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
  expect(await client.check({ service: ids })).toMatchObject({ status: Status.SERVING });
  turn(false);
  expect(await client.check({ service: ids })).toMatchObject({ status: Status.NOT_SERVING });
  for (const service of ["a.C", "constructor", "__proto__"]) {
    await expect(client.check({ service })).rejects.toMatchObject({ code: Code.NotFound });
  }
});

test("the server as a whole serves while every service does", async () => {
  const { client, turn } = setUp();
  expect(await client.check({})).toMatchObject({ status: Status.SERVING });
  turn(false);
  expect(await client.check({})).toMatchObject({ status: Status.NOT_SERVING });
  expect(await client.check({ service: admin })).toMatchObject({ status: Status.SERVING });
});

test("nothing serves once the server drains", async () => {
  const { client, drain } = setUp();
  drain.abort();
  const { statuses } = await client.list({});
  expect(Object.values(statuses).map(({ status }) => status)).toEqual(Array(3).fill(Status.NOT_SERVING));
});

test("List tells of every service", async () => {
  const { statuses } = await setUp().client.list({});
  expect(Object.keys(statuses)).toEqual(["", ids, admin]);
});

test("Watch tells the status, then each change, and lets go when the watcher leaves", async () => {
  const { client, listeners, turn } = setUp();
  const leave = new AbortController();
  const seen: Status[] = [];
  const watching = (async () => {
    for await (const { status } of client.watch({ service: ids }, { signal: leave.signal })) {
      seen.push(status);
      if (seen.length < 4) turn(status !== Status.SERVING);
      else leave.abort();
    }
  })();
  await expect(watching).rejects.toMatchObject({ code: Code.Canceled });
  expect(seen).toEqual([Status.SERVING, Status.NOT_SERVING, Status.SERVING, Status.NOT_SERVING]);
  await expect.poll(() => listeners.size).toBe(0);
});

test.each(["a.C", "constructor", "__proto__", "toString"])(
  "Watch of %s, an unknown service, says so and goes on",
  async (service) => {
    const { client } = setUp();
    for await (const { status } of client.watch({ service })) {
      expect(status).toBe(Status.SERVICE_UNKNOWN);
      break;
    }
  },
);

test("a watcher hears NOT_SERVING before a stop ends its call", async () => {
  const { client, drain } = setUp();
  const seen: Status[] = [];
  const watching = (async () => {
    for await (const { status } of client.watch({})) {
      seen.push(status);
      if (status === Status.SERVING) drain.abort(new ConnectError("gone", Code.Unavailable));
    }
  })();
  await expect(watching).rejects.toMatchObject({ code: Code.Unavailable });
  expect(seen).toEqual([Status.SERVING, Status.NOT_SERVING]);
});
