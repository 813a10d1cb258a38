/** A server that is started while its store is frozen: connections are taken, and nothing is answered. */
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { expect, onTestFinished, test } from "vitest";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../../src/gen/grpc/health/v1/health_pb.ts";
import { IdService } from "../../src/gen/snowlane/v1/id_service_pb.ts";
import { findFreePort } from "../support/processes/free-port.ts";
import { beginServer } from "../support/processes/running-server.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { startRedis } from "../support/servers/redis-server.ts";

const patience = { timeout: 100_000, interval: 50 };

test.each([
  { name: "PostgreSQL", start: () => startPostgres() },
  { name: "Redis", start: () => startRedis() },
])(
  "on a frozen $name answers that it is not serving, says so in its log, and serves when that goes on",
  async ({ start }) => {
    const store = await start();
    onTestFinished(() => store.stop());
    store.pause();
    const address = `127.0.0.1:${await findFreePort()}`;
    const times = { window: "2s", windowMax: "2s" };
    const begun = beginServer({ listen: address, waitMax: "0ms", store: store.url, ...times });
    begun.starting.catch(() => {});
    onTestFinished(() => begun.end());
    const transport = createGrpcTransport({ baseUrl: `http://${address}` });
    const [health, ids] = [createClient(Health, transport), createClient(IdService, transport)];
    const statusOf = (): Promise<Status | undefined> =>
      health.check({}).then(
        ({ status }) => status,
        () => undefined,
      );
    await expect.poll(statusOf, patience).toBe(Status.NOT_SERVING);
    const refusal = ConnectError.from(await ids.nextId({}).catch((cause: unknown) => cause));
    expect(refusal.code).toBe(Code.Unavailable);
    const place = store.url.replace(/.*@/, "");
    // A start that a busy machine made slow gives the store more time: then what it misses first is the connection.
    const told = () =>
      begun.log.filter((line) => /no (answer|connection) within/.test(line) && line.includes(place.slice(0, 14)));
    await expect.poll(() => told().length, patience).toBeGreaterThan(0);
    store.resume();
    await expect.poll(statusOf, patience).toBe(Status.SERVING);
    expect((await ids.nextId({})).id).toBeGreaterThan(0n);
  },
  240_000,
);
