/**
 * What generators of JavaScript make of an ID, with the packages of their registries: the table of docs/tools.md.
 *
 * FIELD F6: a generator without the option jstype reads an ID as a number, whose last digits are wrong.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fetchMavenArtifact } from "../support/fetch/maven-artifact.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";

const timeout = 600_000;
const folder = mkdtempSync(join(tmpdir(), "snowlane-generators-"));
const id = 2126432293437465084n;
let server: SnowlaneProcess;

beforeAll(async () => {
  cpSync("proto", join(folder, "proto"), { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"type":"module","private":true}');
  writeFileSync(join(folder, "buf.yaml"), "version: v2\nmodules:\n  - path: proto\n");
  writeFileSync(join(folder, "buf.gen.yaml"), generation);
  const packages = ["protobufjs@8.8.1", "ts-proto@2.18.0", "@bufbuild/protoc-gen-es@2.13.0", "@bufbuild/buf@1.75.0"];
  const runtimes = ["@bufbuild/protobuf@2.13.0", "@connectrpc/connect@2.2.0", "@connectrpc/connect-node@2.2.0"];
  const older = ["google-protobuf@4.0.3", "grpc-web@2.1.1", "xhr2@0.2.1"];
  await runCommand("npm", ["install", "--no-audit", "--no-fund", ...packages, ...runtimes, ...older], { cwd: folder });
  const buf = join(folder, "node_modules/.bin/buf");
  await runCommand(buf, ["generate"], { cwd: folder });
  await runCommand(buf, ["build", "proto", "--as-file-descriptor-set", "-o", "set.binpb"], { cwd: folder });
  const protoc = await fetchMavenArtifact(protocWithJs);
  const out = "--js_out=import_style=commonjs,binary:js";
  mkdirSync(join(folder, "js"));
  await runCommand(protoc, ["--descriptor_set_in=set.binpb", out, "snowlane/v1/id_service.proto"], { cwd: folder });
  writeFileSync(join(folder, "js/package.json"), '{"type":"commonjs"}');
  server = await startSnowlane({ args: ["--store", `sqlite:${join(folder, "ids.db")}`] });
}, timeout);
afterAll(async () => {
  await server.stop("SIGTERM");
  rmSync(folder, { recursive: true, force: true });
});

/** The last protoc with the generator of google-protobuf in it: later ones of that are a download from GitHub alone. */
const protocWithJs = {
  coordinates: "com.google.protobuf:protoc:3.20.3:exe:linux-x86_64",
  sha256: "7bf21b9e0a5390dbebe784a4aca1d64683af157b5a22847369737509e8e6cf30",
};

const generation = `version: v2
inputs:
  - directory: proto
plugins:
  - local: node_modules/.bin/protoc-gen-es
    out: es
    opt: [target=js, import_extension=js]
  - local: node_modules/.bin/protoc-gen-ts_proto
    out: ts-proto
    opt: [outputServices=none, importSuffix=.ts, enumsAsLiterals=true, outputJsonMethods=false, outputPartialMethods=false]
  - local: node_modules/.bin/protoc-gen-ts_proto
    out: ts-proto-bigint
    opt: [outputServices=none, importSuffix=.ts, enumsAsLiterals=true, outputJsonMethods=false, outputPartialMethods=false, forceLong=bigint]
`;

/** The bytes of a NextIdResponse: field 1, fixed64. */
function responseBytes(): Buffer {
  const bytes = Buffer.alloc(9);
  bytes[0] = 0x09;
  bytes.writeBigUInt64LE(id, 1);
  return bytes;
}

/** Runs a program beside the generated code, with `bytes` in its scope; what it prints. */
async function printed(program: string): Promise<string> {
  const bytes = `const bytes = Buffer.from(${JSON.stringify(responseBytes().toString("hex"))}, "hex");`;
  writeFileSync(join(folder, "app.mjs"), `${bytes}\n${program}`);
  return (await runCommand(process.execPath, ["app.mjs"], { cwd: folder })).trim();
}

test("protobuf-es, and with it Connect-ES: an outsider's stubs have a string, exact", { timeout }, async () => {
  const program = `import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { NextIdResponseSchema } from "./es/snowlane/v1/id_service_pb.js";
const { id } = fromBinary(NextIdResponseSchema, bytes);
console.log(typeof id, id, BigInt(id) === ${id}n);`;
  expect(await printed(program)).toBe(`string ${id} true`);
});

test("Connect-ES with an outsider's stubs: what a server issues is read without a loss", { timeout }, async () => {
  const program = `import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { IdService } from "./es/snowlane/v1/id_service_pb.js";
const baseUrl = ${JSON.stringify(server.url)};
for (const make of [createConnectTransport, createGrpcTransport]) {
  const client = createClient(IdService, make({ httpVersion: "2", baseUrl }));
  const { id } = await client.nextId({});
  const { ids } = await client.nextIds({ count: 3 });
  for (const each of [id, ...ids]) {
    const parsed = await client.parse({ source: { case: "id", value: each } });
    console.log(typeof each, parsed.id === each);
  }
}
process.exit();`;
  expect(new Set((await printed(program)).split("\n"))).toEqual(new Set(["string true"]));
});

test("google-protobuf: a string, exact, and the same bytes again", { timeout }, async () => {
  const program = `import pb from "./js/snowlane/v1/id_service_pb.js";
const message = pb.NextIdResponse.deserializeBinary(bytes);
console.log(typeof message.getId(), message.getId(), bytes.equals(message.serializeBinary()));`;
  expect(await printed(program)).toBe(`string ${id} true`);
});

test("grpc-web in its binary format: a list of a server's IDs, exact", { timeout }, async () => {
  const program = `import grpcWeb from "grpc-web";
import xhr2 from "xhr2";
import pb from "./js/snowlane/v1/id_service_pb.js";
globalThis.XMLHttpRequest = xhr2.XMLHttpRequest;
const path = "/snowlane.v1.IdService/NextIds";
const write = (request) => request.serializeBinary();
const read = pb.NextIdsResponse.deserializeBinary;
const method = new grpcWeb.MethodDescriptor(path, "unary", pb.NextIdsRequest, pb.NextIdsResponse, write, read);
const request = new pb.NextIdsRequest();
request.setCount(3);
const client = new grpcWeb.GrpcWebClientBase({ format: "binary" });
client.rpcCall(${JSON.stringify(server.url)} + path, request, {}, method, (error, response) => {
  if (error) throw error;
  const ids = response.getIdsList();
  // Rounded to doubles, neighbours would be equal.
  console.log(new Set(ids).size, ids.every((id) => typeof id === "string" && /^\\d{19}$/.test(id)));
});`;
  expect(await printed(program)).toBe("3 true");
});

test("ts-proto: exact as bigint, and no wrong number without the option", { timeout }, async () => {
  const read = (out: string) => `import { NextIdResponse } from "./${out}/snowlane/v1/id_service.ts";
try { const { id } = NextIdResponse.decode(bytes); console.log(typeof id, String(id)); }
catch (error) { console.log(error.message); }`;
  expect(await printed(read("ts-proto-bigint"))).toBe(`bigint ${id}`);
  expect(await printed(read("ts-proto"))).toMatch(/larger than Number.MAX_SAFE_INTEGER/);
});

test("protobufjs: exact as Long and as string, and rounded with longs: Number", { timeout }, async () => {
  const program = `import protobuf from "protobufjs";
const root = new protobuf.Root();
root.resolvePath = (_from, path) => path.startsWith("google/") ? path : "proto/" + path.replace(/^proto\\//, "");
root.loadSync("snowlane/v1/id_service.proto");
const type = root.lookupType("snowlane.v1.NextIdResponse");
const message = type.decode(bytes);
console.log(String(message.id), type.toObject(message, { longs: String }).id, type.toObject(message, { longs: Number }).id);`;
  expect(await printed(program)).toBe(`${id} ${id} 2126432293437465000`);
});
