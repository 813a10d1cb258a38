/**
 * A process that serves the conformance service by the server's own listener, dispatch and hot path. Called by the
 * suite's runner: it reads a ServerCompatRequest from standard input and writes a ServerCompatResponse to standard
 * output. Arguments: the path of the descriptors, then `node`, `engine`, or `hot` for the engine with Unary and
 * ServerStream on the hot path.
 */
import { create, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CrossOrigin } from "../../src/server/call/cors.ts";
import { createDispatch } from "../../src/server/call/dispatch.ts";
import { createConnectionServer } from "../../src/server/http/connection-server.ts";
import { bindListener } from "../../src/server/listen/listener.ts";
import type { TlsFiles } from "../../src/server/listen/tls.ts";
import { readConformanceProtos } from "./conformance-protos.ts";
import { ConformanceService } from "./conformance-service.ts";

interface CompatRequest extends Message {
  readonly useTls: boolean;
  readonly clientTlsCert: Uint8Array;
  readonly messageReceiveLimit: number;
  readonly serverCreds?: { readonly cert: Uint8Array; readonly key: Uint8Array };
}

async function readSized(): Promise<Uint8Array> {
  let bytes = Buffer.alloc(0);
  for await (const chunk of process.stdin) {
    bytes = Buffer.concat([bytes, chunk as Buffer]);
    if (bytes.length >= 4 && bytes.length >= 4 + bytes.readUInt32BE(0)) break;
  }
  return bytes.subarray(4);
}

function writeTlsFiles(folder: string, { serverCreds, clientTlsCert }: CompatRequest): TlsFiles {
  const files = {
    certPath: join(folder, "cert.pem"),
    keyPath: join(folder, "key.pem"),
    clientCaPath: clientTlsCert.length === 0 ? undefined : join(folder, "client-ca.pem"),
  };
  writeFileSync(files.certPath, serverCreds!.cert);
  writeFileSync(files.keyPath, serverCreds!.key);
  if (files.clientCaPath !== undefined) writeFileSync(files.clientCaPath, clientTlsCert);
  return files;
}

const [descriptors = "", mode = "node"] = process.argv.slice(2);
const protos = readConformanceProtos(descriptors);
const request = fromBinary(protos.message("ServerCompatRequest"), await readSized()) as CompatRequest;
const folder = mkdtempSync(join(tmpdir(), "snowlane-conformance-"));
const onFault = (error: unknown): void => void process.stderr.write(`${String(error)}\n`);
const service = new ConformanceService(protos);
const { signal: shutdownSignal } = new AbortController();
const dispatch = createDispatch({
  // Requests come back inside of responses as Any, which JSON spells out.
  routes: (router) =>
    router.service(protos.service, service.implementation() as never, { jsonOptions: { registry: protos.registry } }),
  interceptors: [],
  shutdownSignal,
  requestBytesMax: request.messageReceiveLimit || 4 << 20,
});
const answering = createConnectionServer(
  {
    dispatch,
    crossOrigin: new CrossOrigin([]),
    hotMethods: mode === "hot" ? service.hotMethods() : [],
    guard: undefined,
    toError: (error) => ConnectError.from(error),
    shutdownSignal,
  },
  {
    http2: mode === "node" ? "node" : "engine",
    hostCheck: undefined,
    trustedProxies: undefined,
    http2Limits: {},
    tls: request.useTls ? writeTlsFiles(folder, request) : undefined,
    stallTimeoutMs: 30_000,
    drainTimeoutMs: 10_000,
    onFault,
  },
);
const listener = await bindListener(
  { host: "127.0.0.1", port: 0 },
  {
    connectionsMax: 1_000,
    connectionsPerSecond: 10_000,
    onFault,
  },
);
listener.accept(answering.admit);
const desc = protos.message("ServerCompatResponse");
const response = toBinary(
  desc,
  create(desc, {
    host: "127.0.0.1",
    port: listener.address.port,
    pemCert: request.serverCreds?.cert ?? new Uint8Array(0),
  }),
);
const size = Buffer.alloc(4);
size.writeUInt32BE(response.length);
process.stdout.write(Buffer.concat([size, response]));
process.on("SIGTERM", () => {
  rmSync(folder, { recursive: true, force: true });
  process.exit(0);
});
