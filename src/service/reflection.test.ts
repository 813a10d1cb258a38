import { create, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { createClient, createRouterTransport } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { file_google_rpc_error_details } from "../gen/google/rpc/error_details_pb.ts";
import { file_grpc_health_v1_health } from "../gen/grpc/health/v1/health_pb.ts";
import {
  type ServerReflectionRequest,
  ServerReflection,
  ServerReflectionRequestSchema,
} from "../gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as V1Alpha } from "../gen/grpc/reflection/v1alpha/reflection_pb.ts";
import { file_snowlane_v1_id_service } from "../gen/snowlane/v1/id_service_pb.ts";
import { addReflection } from "./reflection.ts";

const roots = [file_snowlane_v1_id_service, file_grpc_health_v1_health, file_google_rpc_error_details];
const transport = createRouterTransport((router) => addReflection(router, roots));

async function ask(messageRequest: ServerReflectionRequest["messageRequest"]) {
  const request = create(ServerReflectionRequestSchema, { host: "h", messageRequest });
  const client = createClient(ServerReflection, transport);
  const requests = async function* () {
    yield request;
  };
  for await (const response of client.serverReflectionInfo(requests())) return response.messageResponse;
  throw new Error("no response");
}

async function fileOf(symbol: string): Promise<string> {
  const response = await ask({ case: "fileContainingSymbol", value: symbol });
  if (response.case !== "fileDescriptorResponse") return JSON.stringify(response.value);
  return fromBinary(FileDescriptorProtoSchema, response.value.fileDescriptorProto[0]!).name;
}

test("the services of all roots are listed", async () => {
  const response = await ask({ case: "listServices", value: "" });
  expect(response).toMatchObject({
    case: "listServicesResponse",
    value: { service: [{ name: "grpc.health.v1.Health" }, { name: "snowlane.v1.IdService" }] },
  });
});

test.each([
  ["snowlane.v1.IdService", "snowlane/v1/id_service.proto"],
  ["snowlane.v1.IdService.NextId", "snowlane/v1/id_service.proto"],
  ["snowlane.v1.ParseRequest", "snowlane/v1/id_service.proto"],
  ["snowlane.v1.ParseRequest.source", "snowlane/v1/id_service.proto"],
  ["snowlane.v1.TextForm", "snowlane/v1/id_service.proto"],
  ["snowlane.v1.TEXT_FORM_HEX", "snowlane/v1/id_service.proto"],
  ["google.protobuf.Timestamp", "google/protobuf/timestamp.proto"],
  ["google.rpc.BadRequest.FieldViolation", "google/rpc/error_details.proto"],
  ["google.rpc.BadRequest.FieldViolation.field", "google/rpc/error_details.proto"],
  ["grpc.health.v1.HealthCheckResponse.SERVING", "grpc/health/v1/health.proto"],
])("%s stands in %s", async (symbol, file) => {
  expect(await fileOf(symbol)).toBe(file);
});

test("every import of a file can be asked for by its name", async () => {
  for (const { proto } of roots) {
    for (const name of proto.dependency) {
      expect(await ask({ case: "fileByFilename", value: name })).toMatchObject({ case: "fileDescriptorResponse" });
    }
  }
});

test("what is not there is NOT_FOUND, and the stream goes on", async () => {
  const notFound = { case: "errorResponse", value: { errorCode: 5 } };
  expect(await ask({ case: "fileContainingSymbol", value: "snowlane.v1.Nothing" })).toMatchObject(notFound);
  expect(await ask({ case: "fileByFilename", value: "nothing.proto" })).toMatchObject(notFound);
  expect(await ask({ case: "allExtensionNumbersOfType", value: "nothing" })).toMatchObject(notFound);
  const extension = { containingType: "snowlane.v1.IdRun", extensionNumber: 1 };
  expect(
    await ask({
      case: "fileContainingExtension",
      value: { $typeName: "grpc.reflection.v1.ExtensionRequest", ...extension },
    }),
  ).toMatchObject(notFound);
  expect(await ask({ case: undefined })).toMatchObject({ case: "errorResponse", value: { errorCode: 3 } });
});

test("v1alpha says the same", async () => {
  const requests = async function* () {
    yield { messageRequest: { case: "listServices" as const, value: "" } };
  };
  for await (const { messageResponse } of createClient(V1Alpha, transport).serverReflectionInfo(requests())) {
    expect(messageResponse).toMatchObject({ value: { service: [{}, { name: "snowlane.v1.IdService" }] } });
  }
});
