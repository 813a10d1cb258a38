/** What generators of JavaScript make of an ID, with the packages of their registries: the table of docs/tools.md. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand } from "../support/processes/run-command.ts";

const timeout = 600_000;
const folder = mkdtempSync(join(tmpdir(), "snowlane-generators-"));
const id = 2126432293437465084n;

beforeAll(async () => {
  cpSync("proto", join(folder, "proto"), { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"type":"module","private":true}');
  writeFileSync(join(folder, "buf.yaml"), "version: v2\nmodules:\n  - path: proto\n");
  writeFileSync(join(folder, "buf.gen.yaml"), generation);
  const packages = ["protobufjs@8.8.1", "ts-proto@2.18.0", "@bufbuild/protoc-gen-es@2.13.0", "@bufbuild/buf@1.75.0"];
  const runtimes = ["@bufbuild/protobuf@2.13.0"];
  await runCommand("npm", ["install", "--no-audit", "--no-fund", ...packages, ...runtimes], { cwd: folder });
  await runCommand(join(folder, "node_modules/.bin/buf"), ["generate"], { cwd: folder });
}, timeout);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

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
