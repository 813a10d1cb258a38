import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ErrorInfoSchema } from "../../src/gen/google/rpc/error_details_pb.ts";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../../src/gen/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "../../src/gen/grpc/reflection/v1/reflection_pb.ts";
import { AdminService, WorkerState } from "../../src/gen/snowlane/v1/admin_service_pb.ts";
import { IdService } from "../../src/gen/snowlane/v1/id_service_pb.ts";
import { SequenceService } from "../../src/gen/snowlane/v1/sequence_service_pb.ts";
import { sequencesReady } from "../support/processes/sequences-ready.ts";
import { runServer, temporaryFolder } from "../support/processes/running-server.ts";

test("ListWorkers pages through all worker IDs that have records", async () => {
  const store = `sqlite:${join(temporaryFolder(), "ids.db")}`;
  const servers = await Promise.all(["1", "2", "3"].map((workerId) => start(store, workerId)));
  const { url, faults } = servers[0]!;
  const admin = createClient(AdminService, createGrpcTransport({ baseUrl: url }));
  const seen: number[] = [];
  let pageToken = "";
  do {
    const page = await admin.listWorkers({ pageSize: 2, pageToken });
    expect(page.workers.length).toBeLessThanOrEqual(2);
    expect([page.workerIdCount, page.quarantineEndTime]).toEqual([1024n, undefined]);
    seen.push(...page.workers.map(({ workerId }) => workerId));
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  expect(seen).toEqual([1, 2, 3]);
  const { workers, freeCount } = await admin.listWorkers({ pageSize: 100_000 });
  expect(freeCount).toBe(1021n);
  expect(workers[0]).toMatchObject({
    datacenterId: 4,
    workerId: 1,
    state: WorkerState.HELD,
    generation: 1n,
    holder: { processId: BigInt(process.pid), instance: expect.stringContaining(":") },
  });
  expect(Number(workers[0]!.windowLeft!.seconds)).toBeLessThanOrEqual(10);
  expect(workers[0]!.markTime!.seconds).toBeGreaterThan(1_700_000_000n);
  expect(faults).toEqual([]);
});

const start = (store: string, workerId: string) => runServer({ store, datacenterId: "4", workerId });

test("a malformed page token is refused, and so is one from elsewhere", async () => {
  const { url } = await runServer();
  const admin = createClient(AdminService, createGrpcTransport({ baseUrl: url }));
  for (const pageToken of ["1", "after-", "after-1 ", "after--1", "x".repeat(1000)]) {
    const error = ConnectError.from(await admin.listWorkers({ pageToken }).catch((cause: unknown) => cause));
    expect(error.code, pageToken).toBe(Code.InvalidArgument);
    expect(error.findDetails(ErrorInfoSchema)).toMatchObject([{ reason: "MALFORMED_TEXT" }]);
  }
  expect((await admin.listWorkers({ pageToken: "after-1023" })).workers).toEqual([]);
});

test("GetStatus tells how the server is, and what it issued in each second", async () => {
  const beforeMs = Date.now();
  const { url, faults } = await runServer({ datacenterId: "4", workerId: "7" });
  const transport = createGrpcTransport({ baseUrl: url });
  const admin = createClient(AdminService, transport);
  const { runs } = await createClient(IdService, transport).reserveIds({ count: 2_000 });
  const issued = BigInt(runs.reduce((sum, { count }) => sum + count, 0));
  const all = async () => (await admin.getStatus({})).samples;
  const total = async () => (await all()).reduce((sum, { idsCount }) => sum + idsCount, 0n);
  await expect.poll(total).toBe(issued);
  await expect.poll(async () => (await all()).length).toBeGreaterThanOrEqual(2);
  const { status, samples } = await admin.getStatus({});
  expect(status).toMatchObject({
    serving: true,
    notServingReason: "",
    phase: "holding",
    datacenterId: 4,
    workerId: 7,
    generation: 1n,
    store: "sqlite",
    storeReachable: true,
    waitingCount: 0n,
    connectionCount: 1n,
  });
  const { startTime, grantTime, windowLeft, lead, storeAnswerAge, storeClockAhead } = status!;
  for (const time of [startTime, grantTime]) expect(Number(time!.seconds)).toBeGreaterThanOrEqual(beforeMs / 1_000 - 1);
  for (const duration of [windowLeft, lead, storeAnswerAge]) expect(Number(duration!.seconds)).toBeLessThan(60);
  expect(storeClockAhead).toBeUndefined();
  expect(samples.map(({ index }) => index)).toEqual(samples.map((_, at) => BigInt(at + 1)));
  expect(samples.at(-1)).toMatchObject({ windowLeft: expect.anything(), lead: expect.anything() });
  await expect(createClient(IdService, transport).reserveIds({ count: 0 })).rejects.toThrow("count");
  const sequences = createClient(SequenceService, transport);
  await sequencesReady(url);
  await sequences.createSequence({ sequence: { name: "orders" } });
  const { runs: values } = await sequences.reserveValues({ name: "orders", count: 30 });
  const taken = BigInt(values.reduce((sum, { count }) => sum + count, 0));
  const valueTotal = async () => (await all()).reduce((sum, { valuesCount }) => sum + valuesCount, 0n);
  await expect.poll(valueTotal).toBe(taken);
  const counted = async () => {
    const found = (await admin.getStatus({})).samples.find(({ errorCount }) => errorCount > 0n);
    const codes = found?.errorCodes.map(({ code, count }) => [code, count]);
    return found && [found.errorCount, codes, found.callCount > 0n, found.p50 !== undefined, found.p99 !== undefined];
  };
  await expect.poll(counted).toEqual([1n, [[Code.InvalidArgument, 1n]], true, true, true]);
  const later = await admin.getStatus({ afterIndex: 1n });
  expect(later.samples[0]?.index).toBe(2n);
  expect((await admin.getStatus({ afterIndex: 2n ** 64n - 1n })).samples[0]?.index).toBe(1n);
  expect(faults).toEqual([]);
});

test("health and reflection know AdminService, reflection knows SequenceService, and Connect answers it by GET", async () => {
  const { url } = await runServer();
  const transport = createGrpcTransport({ baseUrl: url });
  const status = await createClient(Health, transport).check({ service: AdminService.typeName });
  expect(status).toMatchObject({ status: Status.SERVING });
  const requests = async function* () {
    yield { messageRequest: { case: "listServices" as const, value: "" } };
  };
  for await (const { messageResponse } of createClient(ServerReflection, transport).serverReflectionInfo(requests())) {
    const services = messageResponse.case === "listServicesResponse" ? messageResponse.value.service : [];
    const names = services.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["snowlane.v1.AdminService", "snowlane.v1.SequenceService"]));
  }
  const path = "/snowlane.v1.AdminService/ListWorkers?connect=v1&encoding=json&message=%7B%7D";
  const response = await fetch(url + path);
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ workers: [{ state: "WORKER_STATE_HELD" }], workerIdCount: "1024" });
});

test("a store that is gone is reported without saying where it was", async () => {
  const folder = temporaryFolder();
  const { url } = await runServer({ store: `sqlite:${join(folder, "ids.db")}` });
  const admin = createClient(AdminService, createGrpcTransport({ baseUrl: url }));
  await admin.listWorkers({});
  rmSync(join(folder, "ids.db"));
  await expect
    .poll(() => admin.listWorkers({}).catch((error: unknown) => ConnectError.from(error)))
    .toMatchObject({ code: Code.Unavailable, rawMessage: expect.not.stringContaining(folder) });
});
