import { fromBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, createRouterTransport, type ServiceImpl } from "@connectrpc/connect";
import { expect, test } from "vitest";
import {
  Health,
  HealthCheckResponseSchema,
  HealthCheckResponse_ServingStatus as Status,
} from "../gen/grpc/health/v1/health_pb.ts";
import { AdminService } from "../gen/snowlane/v1/admin_service_pb.ts";
import { IdService } from "../gen/snowlane/v1/id_service_pb.ts";
import { createHealth, createHealthBoard } from "./health.ts";
import type { HotContext, HotStream } from "./hot/hot-method.ts";
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
  const board = createHealthBoard(services, drain.signal);
  const { descriptor, implementation, hotMethods } = createHealth(board);
  const transport = createRouterTransport((router) => void router.service(descriptor, implementation));
  return {
    client: createClient(Health, transport),
    drain,
    board,
    listeners,
    hotMethods,
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
  const { client, board, listeners, turn } = setUp();
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
  await expect.poll(() => board.watcherCount).toBe(0);
  // One for all watchers.
  expect(listeners.size).toBe(1);
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

/** Opens a Watch on bytes. */
function watchOnBytes(hotMethods: ReturnType<typeof setUp>["hotMethods"], request: Buffer): HotStream {
  const method = hotMethods.find(({ descriptor }) => descriptor === Health.method.watch)!;
  return method.read(request)!({} as HotContext) as HotStream;
}

/** The status in a framed message. */
function statusIn(frame: Uint8Array | undefined): Status {
  return fromBinary(HealthCheckResponseSchema, frame!.subarray(5)).status;
}

test("Watch on bytes tells the same, and lets go when its call is over", async () => {
  const { board, drain, hotMethods, turn } = setUp();
  const stream = watchOnBytes(hotMethods, Buffer.from([0x0a, ids.length, ...Buffer.from(ids)]));
  expect(statusIn((await stream.next()) as Uint8Array)).toBe(Status.SERVING);
  const next = stream.next() as Promise<Uint8Array>;
  turn(true);
  turn(false);
  expect(statusIn(await next)).toBe(Status.NOT_SERVING);
  const last = stream.next() as Promise<Uint8Array>;
  turn(true);
  expect(statusIn(await last)).toBe(Status.SERVING);
  const atStop = stream.next() as Promise<Uint8Array>;
  drain.abort(new ConnectError("gone", Code.Unavailable));
  expect(statusIn(await atStop)).toBe(Status.NOT_SERVING);
  expect(() => stream.next()).toThrow("gone");
  expect(board.watcherCount).toBe(1);
  stream.close!();
  expect(board.watcherCount).toBe(0);
});

test("Watch on bytes knows no other service, and leaves a request that is not plain to the general way", () => {
  const { hotMethods } = setUp();
  const status = (name: string) =>
    statusIn(watchOnBytes(hotMethods, Buffer.from([0x0a, name.length, ...Buffer.from(name)])).next() as Uint8Array);
  expect(status("a.C")).toBe(Status.SERVICE_UNKNOWN);
  expect(statusIn(watchOnBytes(hotMethods, Buffer.alloc(0)).next() as Uint8Array)).toBe(Status.SERVING);
  const method = hotMethods.find(({ descriptor }) => descriptor === Health.method.watch)!;
  for (const bytes of [[0x0a], [0x0a, 2, 65], [0x12, 1, 65], [0x0a, 1, 0xff], [0x0a, 1, 65, 0x0a, 1, 66]]) {
    expect(method.read(Buffer.from(bytes))).toBeUndefined();
  }
});
