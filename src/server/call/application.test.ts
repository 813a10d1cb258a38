import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { grpcFrame } from "../../../test/support/http2/http-call.ts";
import { HealthListRequestSchema, HealthListResponseSchema } from "../../gen/grpc/health/v1/health_pb.ts";
import { AdminService } from "../../gen/snowlane/v1/admin_service_pb.ts";
import { defineService } from "../../service/service.ts";
import { IdService } from "../../gen/snowlane/v1/id_service_pb.ts";
import { FaultReferences } from "../fault-references.ts";
import { createLog } from "../log.ts";
import { createApplication } from "./application.ts";
import { unreadyOnDrain } from "./probes.ts";

const hotMethod = {
  descriptor: IdService.method.nextId,
  hasPlainJson: true,
  kind: "hot" as const,
  read: () => undefined,
};
const hotPath = "/snowlane.v1.IdService/NextId";

/** An application of one service, whose only method fails for a cause of ours. */
function setUp() {
  const unforeseen: unknown[] = [];
  const lines: string[] = [];
  const log = createLog({ level: "error", format: "json", write: (line) => lines.push(line), nowMs: () => 0 });
  const faults = new FaultReferences(log);
  const drain = new AbortController();
  const service = defineService({
    descriptor: AdminService,
    implementation: {
      listWorkers: () => {
        throw new TypeError("secret");
      },
      getStatus: () => ({}),
      claimPast: () => ({}),
    },
    hotMethods: [hotMethod],
  });
  const application = createApplication({
    services: [service],
    guards: [],
    corsOrigins: [],
    findUnready: unreadyOnDrain(drain.signal, () => undefined),
    page: "off",
    drainSignal: drain.signal,
    shutdownSignal: new AbortController().signal,
    onUnforeseen: (error, method) => {
      unforeseen.push([method, (error as Error).message]);
      return faults.refer(error, method);
    },
  });
  const call = async (path: string, message: Uint8Array) => {
    const response = await application.dispatch({
      httpVersion: "2.0",
      method: "POST",
      url: "http://localhost/",
      path,
      header: new Headers({ "content-type": "application/grpc" }),
      body: bodyOf(grpcFrame(message)),
      signal: new AbortController().signal,
    });
    const chunks: Uint8Array[] = [];
    for await (const chunk of response.body ?? []) chunks.push(chunk);
    const field = (name: string) => response.trailer?.get(name) ?? response.header?.get(name);
    const error = decodeURIComponent(field("grpc-message") ?? "");
    return { status: field("grpc-status"), error, message: Buffer.concat(chunks).subarray(5) };
  };
  return { application, drain, unforeseen, lines, call };
}

async function* bodyOf(request: Uint8Array): AsyncGenerator<Uint8Array> {
  yield request;
}

test("a service of the list has its routes, its health and its hot methods", async () => {
  const { application, call } = setUp();
  expect(application.hotMethods).toContain(hotMethod);
  const request = toBinary(HealthListRequestSchema, create(HealthListRequestSchema));
  const { message } = await call("/grpc.health.v1.Health/List", request);
  const { statuses } = fromBinary(HealthListResponseSchema, message);
  expect(Object.keys(statuses)).toEqual(["", AdminService.typeName]);
  expect((await call("/snowlane.v1.AdminService/ListWorkers", new Uint8Array(0))).status).toBe(String(Code.Internal));
  expect((await call("/snowlane.v1.IdService/NextId", new Uint8Array(0))).status).toBe(String(Code.Unimplemented));
});

test("while the server drains it is alive, and not ready for the reason that callers get", async () => {
  const { application, drain } = setUp();
  const probe = async (path: string) => {
    const header = new Headers();
    const { signal } = new AbortController();
    const url = "http://localhost/";
    const { status, body } = await application.dispatch({
      httpVersion: "1.1",
      method: "GET",
      url,
      path,
      header,
      body: bodyOf(new Uint8Array(0)),
      signal,
    });
    const chunks: Uint8Array[] = [];
    for await (const chunk of body ?? []) chunks.push(chunk);
    return [status, Buffer.concat(chunks).toString()];
  };
  expect(await probe("/readyz")).toEqual([200, "ok\n"]);
  drain.abort(new ConnectError("call another one", Code.Unavailable));
  expect(await probe("/readyz")).toEqual([503, "SHUTTING_DOWN: call another one\n"]);
  expect(await probe("/healthz")).toEqual([200, "ok\n"]);
});

test("an unforeseen error is reported with its method, on Connect's way and by the hot methods alike", async () => {
  const { application, call, unforeseen, lines } = setUp();
  const answer = await call("/snowlane.v1.AdminService/ListWorkers", new Uint8Array(0));
  const error = application.toError(new TypeError("secret"), hotPath);
  expect(error).toMatchObject({ code: Code.Internal, rawMessage: expect.not.stringContaining("secret") });
  expect(application.toError(new ConnectError("no", Code.Canceled), hotPath).code).toBe(Code.Canceled);
  expect(unforeseen).toEqual([
    ["snowlane.v1.AdminService/ListWorkers", "secret"],
    ["snowlane.v1.IdService/NextId", "secret"],
  ]);
  // The caller of each has the reference under which the log has the cause.
  const written = lines.map((line): { method: string; reference: string } => JSON.parse(line));
  expect(written.map(({ method }) => method)).toEqual(["snowlane.v1.AdminService/ListWorkers", hotPath.slice(1)]);
  const [general, hot] = written.map(({ reference }) => reference);
  expect(new Set([general, hot]).size).toBe(2);
  expect(answer.error).toContain(general);
  expect(error.rawMessage).toContain(hot);
  for (const text of [answer.error, error.rawMessage]) expect(text.match(/[0-9a-f]{16}/g)).toHaveLength(1);
});
