import { create, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { createClient, createRouterTransport, type ServiceImpl } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { Health } from "../gen/grpc/health/v1/health_pb.ts";
import {
  type ServerReflectionRequest,
  ServerReflection,
  ServerReflectionRequestSchema,
} from "../gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as V1Alpha } from "../gen/grpc/reflection/v1alpha/reflection_pb.ts";
import { IdService } from "../gen/snowlane/v1/id_service_pb.ts";
import { createReflection } from "./reflection.ts";
import { defineService } from "./service.ts";

const services = [
  defineService({ descriptor: IdService, implementation: {} as ServiceImpl<typeof IdService> }),
  defineService({ descriptor: Health, implementation: {} as ServiceImpl<typeof Health> }),
];
const transport = createRouterTransport((router) => {
  for (const { descriptor, implementation } of createReflection(services)) router.service(descriptor, implementation);
});

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

test("every service is listed, and reflection itself", async () => {
  const response = await ask({ case: "listServices", value: "" });
  expect(response).toMatchObject({
    case: "listServicesResponse",
    value: {
      service: [
        { name: "grpc.health.v1.Health" },
        { name: "grpc.reflection.v1.ServerReflection" },
        { name: "grpc.reflection.v1alpha.ServerReflection" },
        { name: "snowlane.v1.IdService" },
      ],
    },
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
])("%s is in %s", async (symbol, file) => {
  expect(await fileOf(symbol)).toBe(file);
});

test("every import of a file can be asked for by its name", async () => {
  for (const { descriptor } of services) {
    for (const name of descriptor.file.proto.dependency) {
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
    expect(messageResponse).toMatchObject({ value: { service: [{}, {}, {}, { name: "snowlane.v1.IdService" }] } });
  }
});
