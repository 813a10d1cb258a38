import {
  type DescEnum,
  type DescField,
  type DescFile,
  type DescMessage,
  type DescMethod,
  ScalarType,
} from "@bufbuild/protobuf";
import { version } from "../../src/version.ts";
import { hasNoSideEffects, paragraphsOf, pathOf } from "./described-protos.ts";

/**
 * Describes the unary methods of the protos as OpenAPI 3.1: their JSON over plain HTTP, as the Connect protocol has it
 * (https://connectrpc.com/docs/protocol). protoc-gen-connect-openapi does it too, and needs Go; `npm run generate
 * typescript` needs Node alone.
 */
export function describeAsOpenApi(files: readonly DescFile[]): object {
  const methods = files.flatMap(({ services }) => services.flatMap((service) => service.methods));
  const unary = methods.filter(({ methodKind }) => methodKind === "unary");
  const streams = methods.filter(({ methodKind }) => methodKind !== "unary").map(({ name }) => name);
  const types = typesOf(unary.flatMap(({ input, output }) => [input, output]));
  return {
    openapi: "3.1.0",
    info: {
      title: "Snowlane",
      version,
      description: `Snowlane's JSON API, over HTTP/1.1 and HTTP/2. 64-bit numbers are strings: a JSON number above 2^53 - 1 has lost digits. ${streams.join(" and ")} are streams, which need a client of Connect or gRPC, and are not described here.`,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    tags: files.flatMap(({ services }) =>
      services.map((service) => ({ name: service.name, description: textOf(service) })),
    ),
    paths: Object.fromEntries(unary.map((method) => [pathOf(method), operationsOf(method)])),
    components: {
      parameters: {
        timeout: {
          name: "Connect-Timeout-Ms",
          in: "header",
          description: "How long the caller waits, in milliseconds.",
          schema: { type: "integer", minimum: 0 },
        },
      },
      responses: {
        error: {
          description: "The call failed. docs/errors.md has every reason.",
          content: { "application/json": { schema: reference("connect.Error") } },
        },
      },
      schemas: { ...Object.fromEntries(types.map((type) => [type.typeName, schemaOf(type)])), ...errorSchemas },
    },
  };
}

function textOf(element: Parameters<typeof paragraphsOf>[0]): string {
  return paragraphsOf(element).join("\n\n");
}

function reference(typeName: string): object {
  return { $ref: `#/components/schemas/${typeName}` };
}

function operationsOf(method: DescMethod): object {
  const { name, parent, input, output } = method;
  const [summary = ""] = /^.*?[.](?= |$)/.exec(paragraphsOf(method)[0] ?? "") ?? [];
  const shared = {
    tags: [parent.name],
    summary,
    description: textOf(method),
    responses: {
      200: { description: "The answer.", content: { "application/json": { schema: reference(output.typeName) } } },
      default: { $ref: "#/components/responses/error" },
    },
  };
  const timeout = { $ref: "#/components/parameters/timeout" };
  const request = { "application/json": { schema: reference(input.typeName) } };
  const post = {
    ...shared,
    operationId: `${parent.name}_${name}`,
    parameters: [timeout],
    requestBody: { required: true, content: request },
  };
  if (!hasNoSideEffects(method)) return { post };
  const parameters = [
    { name: "encoding", in: "query", required: true, schema: { const: "json" } },
    { name: "message", in: "query", required: true, content: request },
    { name: "connect", in: "query", schema: { const: "v1" } },
    timeout,
  ];
  return { post, get: { ...shared, operationId: `${parent.name}_${name}_get`, parameters } };
}

/** The messages and enums in messages, themselves included, by name. Those of Google have schemas of their own. */
function typesOf(roots: readonly DescMessage[]): readonly (DescMessage | DescEnum)[] {
  const found = new Map<string, DescMessage | DescEnum>();
  const add = (type: DescMessage | DescEnum): void => {
    if (found.has(type.typeName) || type.typeName in wellKnownSchemas) return;
    found.set(type.typeName, type);
    if (type.kind === "enum") return;
    for (const field of type.fields) {
      const part = field.message ?? field.enum;
      if (part !== undefined) add(part);
    }
  };
  for (const root of roots) add(root);
  return [...found.values()].toSorted((a, b) => (a.typeName < b.typeName ? -1 : 1));
}

function schemaOf(type: DescMessage | DescEnum): object {
  const description = textOf(type);
  if (type.kind === "enum") {
    const meanings = type.values.map((value) => `- ${value.name}: ${textOf(value)}`);
    const names = type.values.map(({ name }) => name);
    return { type: "string", description: `${description}\n\n${meanings.join("\n")}`, enum: names };
  }
  const properties = type.fields.map((field) => [field.jsonName, fieldSchema(field)]);
  return { type: "object", description, properties: Object.fromEntries(properties) };
}

function fieldSchema(field: DescField): object {
  const choice = field.oneof?.fields.map(({ jsonName }) => jsonName) ?? [];
  const note = choice.length > 1 ? [`At most one of ${choice.join(", ")} is set.`] : [];
  const description = [...paragraphsOf(field), ...note].join("\n\n");
  if (field.fieldKind === "list") return { description, type: "array", items: valueSchema(field) };
  if (field.fieldKind === "map") return { description, type: "object", additionalProperties: valueSchema(field) };
  return { ...valueSchema(field), description };
}

function valueSchema({ scalar, message, enum: choice }: Pick<DescField, "scalar" | "message" | "enum">): object {
  if (message !== undefined) return wellKnownSchemas[message.typeName] ?? reference(message.typeName);
  if (choice !== undefined) return reference(choice.typeName);
  const schema = scalar === undefined ? undefined : scalarSchemas[scalar];
  if (schema === undefined) throw new Error(`tools/api/openapi.ts has no schema for the scalar type ${scalar}.`);
  return schema;
}

const unsignedText = { type: "string", pattern: "^[0-9]+$" };

/** Of the scalar types that the protos use. */
const scalarSchemas: Readonly<Partial<Record<ScalarType, object>>> = {
  [ScalarType.BOOL]: { type: "boolean" },
  [ScalarType.STRING]: { type: "string" },
  [ScalarType.UINT32]: { type: "integer", minimum: 0, maximum: 2 ** 32 - 1 },
  [ScalarType.FIXED32]: { type: "integer", minimum: 0, maximum: 2 ** 32 - 1 },
  [ScalarType.SINT32]: { type: "integer", minimum: -(2 ** 31), maximum: 2 ** 31 - 1 },
  [ScalarType.INT64]: { type: "string", format: "int64", pattern: "^-?[0-9]+$" },
  [ScalarType.UINT64]: { ...unsignedText, format: "uint64" },
  [ScalarType.FIXED64]: { ...unsignedText, format: "uint64" },
};

/** https://protobuf.dev/programming-guides/json/ */
const wellKnownSchemas: Readonly<Record<string, object>> = {
  "google.protobuf.Timestamp": { type: "string", format: "date-time" },
  "google.protobuf.Duration": { type: "string", pattern: String.raw`^-?[0-9]+(\.[0-9]+)?s$` },
  "google.protobuf.FieldMask": { type: "string" },
};

/** https://connectrpc.com/docs/protocol#error-end-stream */
const errorSchemas = {
  "connect.Error": {
    type: "object",
    required: ["code"],
    properties: {
      code: {
        type: "string",
        enum: [
          "canceled",
          "unknown",
          "invalid_argument",
          "deadline_exceeded",
          "not_found",
          "already_exists",
          "permission_denied",
          "resource_exhausted",
          "failed_precondition",
          "aborted",
          "out_of_range",
          "unimplemented",
          "internal",
          "unavailable",
          "data_loss",
          "unauthenticated",
        ],
      },
      message: { type: "string", description: "A text for people." },
      details: { type: "array", items: reference("connect.ErrorDetail") },
    },
  },
  "connect.ErrorDetail": {
    type: "object",
    required: ["type", "value"],
    properties: {
      type: { type: "string", description: "google.rpc.ErrorInfo, google.rpc.RetryInfo or google.rpc.BadRequest." },
      value: { type: "string", description: "The message in binary form, in base 64 without padding." },
      debug: { description: "The message as JSON: `reason` of an ErrorInfo is what programs match." },
    },
  },
};
