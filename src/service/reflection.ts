import { type DescFile, type DescService, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { file_google_rpc_error_details } from "../gen/google/rpc/error_details_pb.ts";
import { type ServerReflectionRequest, ServerReflection as V1 } from "../gen/grpc/reflection/v1/reflection_pb.ts";
import {
  type ServerReflectionRequest as AlphaRequest,
  ServerReflection as V1Alpha,
} from "../gen/grpc/reflection/v1alpha/reflection_pb.ts";
import { defineService, type Service } from "./service.ts";

/**
 * Makes gRPC server reflection, v1 and v1alpha, over `services` and itself. Newer clients ask for v1 first, and older
 * ones know only v1alpha.
 */
export function createReflection(services: readonly Service[]): readonly Service[] {
  const described = [...services.map(({ descriptor }) => descriptor), V1, V1Alpha];
  // Made at the first request, because most servers never get one.
  let index: Index | undefined;
  const answerAll = async function* <R extends ServerReflectionRequest | AlphaRequest>(requests: AsyncIterable<R>) {
    for await (const request of requests) {
      index ??= createIndex(described);
      yield {
        validHost: request.host,
        originalRequest: request,
        messageResponse: answer(index, request.messageRequest),
      };
    }
  };
  return [
    defineService({
      descriptor: V1,
      implementation: { serverReflectionInfo: answerAll<ServerReflectionRequest> },
    }),
    defineService({
      descriptor: V1Alpha,
      implementation: { serverReflectionInfo: answerAll<AlphaRequest> },
    }),
  ];
}

interface Index {
  /** Full names, sorted. */
  readonly services: readonly string[];
  readonly fileOfName: ReadonlyMap<string, DescFile>;
  /** By full name of services, methods, messages, enums, their fields and values. */
  readonly fileOfSymbol: ReadonlyMap<string, DescFile>;
}

function createIndex(described: readonly DescService[]): Index {
  const fileOfName = new Map<string, DescFile>();
  const add = (file: DescFile): void => {
    if (fileOfName.has(file.proto.name)) return;
    fileOfName.set(file.proto.name, file);
    for (const dependency of file.dependencies) add(dependency);
  };
  for (const { file } of described) add(file);
  // Error details are sent as Any, so no file of a service imports their file.
  add(file_google_rpc_error_details);
  const fileOfSymbol = new Map<string, DescFile>();
  for (const file of fileOfName.values()) {
    for (const symbol of symbolsOf(file)) fileOfSymbol.set(symbol, file);
  }
  return { services: described.map(({ typeName }) => typeName).toSorted(), fileOfName, fileOfSymbol };
}

function* symbolsOf(
  file: Pick<DescFile, "messages" | "enums"> & Partial<Pick<DescFile, "services">>,
): Generator<string> {
  for (const { typeName, methods } of file.services ?? []) {
    yield typeName;
    yield* methods.map(({ name }) => `${typeName}.${name}`);
  }
  for (const message of file.messages) {
    yield message.typeName;
    yield* message.members.map(({ name }) => `${message.typeName}.${name}`);
    yield* symbolsOf({ messages: message.nestedMessages, enums: message.nestedEnums });
  }
  for (const { typeName, values } of file.enums) {
    yield typeName;
    // The values of an enum are in its parent's scope, not in its own (protobuf's scoping of enum values).
    const scope = typeName.slice(0, typeName.lastIndexOf(".") + 1);
    yield* values.map(({ name }) => `${scope}${name}`);
  }
}

function answer(index: Index, request: ServerReflectionRequest["messageRequest"] | AlphaRequest["messageRequest"]) {
  switch (request.case) {
    case "listServices": {
      const service = index.services.map((name) => ({ name }));
      return { case: "listServicesResponse" as const, value: { service } };
    }
    case "fileByFilename":
      return fileAnswer(index.fileOfName.get(request.value), request.value);
    case "fileContainingSymbol":
      return fileAnswer(index.fileOfSymbol.get(request.value), request.value);
    case "allExtensionNumbersOfType":
      return fileOfExtension(index, request.value);
    case "fileContainingExtension":
      return notFound(`extension ${request.value.extensionNumber} of ${request.value.containingType}`);
    case undefined:
      return refusal(Code.InvalidArgument, "The request is empty.");
  }
}

function fileAnswer(file: DescFile | undefined, name: string) {
  if (file === undefined) return notFound(name);
  const fileDescriptorProto = [toBinary(FileDescriptorProtoSchema, file.proto)];
  return { case: "fileDescriptorResponse" as const, value: { fileDescriptorProto } };
}

/** Lists no extensions of a type, because our files define none. */
function fileOfExtension(index: Index, baseTypeName: string) {
  if (!index.fileOfSymbol.has(baseTypeName)) return notFound(baseTypeName);
  return { case: "allExtensionNumbersResponse" as const, value: { baseTypeName, extensionNumber: [] } };
}

function notFound(name: string) {
  return refusal(Code.NotFound, `There is no ${name}.`);
}

function refusal(errorCode: Code, errorMessage: string) {
  return { case: "errorResponse" as const, value: { errorCode, errorMessage } };
}
