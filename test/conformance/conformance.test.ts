/**
 * The whole suite of Connect against the server's own listener, dispatch, TLS and hot path, once over each kind of
 * HTTP/2.
 */
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { findTool } from "../support/fetch/tools.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { sized } from "../support/worlds/scale.ts";
import { fetchConformanceDescriptors } from "./conformance-protos.ts";

let runner: string;
let descriptors: string;

beforeAll(async () => {
  runner = (await findTool("connectconformance")).path;
  descriptors = await fetchConformanceDescriptors();
});

async function run(mode: "node" | "engine" | "hot", ...more: readonly string[]): Promise<string> {
  const server = [process.execPath, join(import.meta.dirname, "conformance-server.ts"), descriptors, mode];
  const config = join(import.meta.dirname, "config.yaml");
  const args = [
    "--mode",
    "server",
    "--conf",
    config,
    "--max-servers",
    "1",
    "--parallel",
    "4",
    ...more,
    "--",
    ...server,
  ];
  // The runner may wait without end for a server that is wrong.
  return await runCommand("timeout", ["280", runner, ...args]);
}

/** The configurations that the suite runs over, in all combinations. Over HTTP/1.1 there is no gRPC. */
const serverConfigs = ["HTTP_VERSION_1", "HTTP_VERSION_2"].flatMap((version) =>
  ["PROTOCOL_CONNECT", "PROTOCOL_GRPC", "PROTOCOL_GRPC_WEB"]
    .filter((protocol) => version === "HTTP_VERSION_2" || protocol !== "PROTOCOL_GRPC")
    .flatMap((protocol) =>
      ["TLS:false", "TLS:true", "TLS:true (with client certs)"].map((tls) => `{${version}, ${protocol}, ${tls}}`),
    ),
);
const caseCount = 3_640;

test("with the engine every case passes", async () => {
  const output = await run("engine", "-v");
  const ran = [...output.matchAll(/with reference-client for server config #\d+ (\{.*?\})/g)].map(([, one]) => one);
  expect(new Set(ran)).toEqual(new Set(serverConfigs));
  expect(output).toMatch(new RegExp(`\n${caseCount} passed, 0 failed`));
});

test("with unary and server-streaming methods on the hot path every case passes, in every protocol", async () => {
  expect(await run("hot")).toMatch(new RegExp(`\n${caseCount} passed, 0 failed`));
});

/**
 * The cases that may fail with node:http2: a request of one message, whose length Go's client announces, that is refused
 * before its body is out. Go's client then ends the body short of its content-length, and nghttp2 answers with
 * RST_STREAM(PROTOCOL_ERROR), by which Go's client forgets the response. RFC 9113 section 8.1 has the cure,
 * RST_STREAM(NO_ERROR) after the response, which the engine sends; from node:http2 it would overtake the trailers. The
 * bytes are in differential.test.ts ("a client that ends its body short"). Looked for, and not found: an issue of Node,
 * nghttp2 or Go about it.
 */
const flakyOnNode = ["PROTOCOL_CONNECT", "PROTOCOL_GRPC", "PROTOCOL_GRPC_WEB"].flatMap((protocol) =>
  ["TLS:false", "TLS:true"].flatMap((tls) =>
    ["unary", "server-stream"].map(
      (kind) =>
        `Server Message Size/HTTPVersion:2/Protocol:${protocol}/Compression:COMPRESSION_IDENTITY/${tls}/${kind}/request-exceeds-server-limit`,
    ),
  ),
);

/** The server's tests say in `npm test` what node:http2 serves in its own way. */
const onNode = sized([], ["node:http2"]);

test.each(onNode)("with %s every case passes, but for uploads that are refused halfway", async () => {
  const output = await run("node", ...flakyOnNode.flatMap((name) => ["--known-flaky", name]));
  const [, passed, failed] = /\n(\d+) passed, (\d+) failed/.exec(output) ?? [];
  const [, flaky = "0"] = /\(Another (\d+) failed as expected/.exec(output) ?? [];
  expect(failed).toBe("0");
  expect(Number(passed) + Number(flaky)).toBe(caseCount);
});
