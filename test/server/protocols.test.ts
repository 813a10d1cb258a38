import { createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { describe, expect, test } from "vitest";
import { BadRequestSchema, ErrorInfoSchema } from "../../src/gen/google/rpc/error_details_pb.ts";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../../src/gen/grpc/health/v1/health_pb.ts";
import { IdService, Ordering, RollbackPolicy } from "../../src/gen/snowlane/v1/id_service_pb.ts";
import { runServer } from "../support/processes/running-server.ts";

const transports: Readonly<Record<string, (baseUrl: string) => Transport>> = {
  "gRPC over HTTP/2": (baseUrl) => createGrpcTransport({ baseUrl }),
  "gRPC-Web over HTTP/1.1": (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }),
  "gRPC-Web over HTTP/2": (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "2" }),
  "Connect, binary, over HTTP/1.1": (baseUrl) =>
    createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: true }),
  "Connect, JSON, over HTTP/1.1": (baseUrl) =>
    createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false }),
  "Connect, JSON, over HTTP/2": (baseUrl) =>
    createConnectTransport({ baseUrl, httpVersion: "2", useBinaryFormat: false }),
  "Connect with GET over HTTP/1.1": (baseUrl) =>
    createConnectTransport({ baseUrl, httpVersion: "1.1", useHttpGet: true }),
};

describe.each(Object.entries(transports))("%s", (_name, createTransport) => {
  test("every method answers", async () => {
    const { url, faults } = await runServer({ batchCountMax: "100000" });
    const client = createClient(IdService, createTransport(url));
    const { id } = await client.nextId({});
    expect(id).toBeGreaterThan(2n ** 53n);
    const parsed = await client.parse({ source: { case: "id", value: id } });
    const info = await client.getInfo({});
    expect(parsed).toMatchObject({ id, datacenterId: info.datacenterId, workerId: info.workerId });
    expect(parsed.layout).toEqual(info.layout);
    expect(info).toMatchObject({
      rollbackPolicy: RollbackPolicy.ADVANCE,
      ordering: Ordering.RISING_PER_WORKER,
      limits: { reserveCountMax: 1_048_576, batchCountMax: 100_000n, chunkSizeMax: 65_536 },
    });
    const { runs } = await client.reserveIds({ count: 1000 });
    expect(runs.reduce((sum, { count }) => sum + count, 0)).toBeLessThanOrEqual(1000);
    expect(runs[0]!.firstId).toBeGreaterThan(id);
    const { firstId, lastId } = await client.getIdRange({
      startTime: { seconds: 1_700_000_000n },
      endTime: parsed.createTime!,
    });
    expect(firstId < lastId && lastId < id).toBe(true);
    let last = runs.at(-1)!.firstId;
    let count = 0;
    for await (const { ids } of client.batchNextIds({ count: 20_000n, chunkSize: 777 })) {
      expect(ids.length).toBeLessThanOrEqual(777);
      for (const next of ids) {
        expect(next > last).toBe(true);
        last = next;
      }
      count += ids.length;
    }
    expect(count).toBe(20_000);
    const health = createClient(Health, createTransport(url));
    expect(await health.check({ service: IdService.typeName })).toMatchObject({ status: Status.SERVING });
    expect(faults).toEqual([]);
  });

  test("an error of a call, and of a stream, carries reason, field and metadata", async () => {
    const { url } = await runServer();
    const client = createClient(IdService, createTransport(url));
    const streamed = async () => {
      for await (const _ of client.batchNextIds({ count: 0n }));
    };
    for (const call of [() => client.reserveIds({ count: 0 }), streamed]) {
      const error = await call().catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 3 });
      const { findDetails } = error as { findDetails: (schema: unknown) => unknown[] };
      const details = (schema: unknown) => findDetails.call(error, schema);
      expect(details(ErrorInfoSchema)).toMatchObject([
        { reason: "COUNT_OUT_OF_RANGE", domain: "snowlane.dev", metadata: { count: "0" } },
      ]);
      expect(details(BadRequestSchema)).toMatchObject([{ fieldViolations: [{ field: "count" }] }]);
    }
  });
});
