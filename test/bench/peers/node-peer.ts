/**
 * What Snowlane is measured beside, in Node: `node node-peer.ts bare|bare-http1|connect|grpc-js PORT`. NextId (and, by Connect,
 * Parse) over this project's generator, so that what differs is the way to it.
 */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import { createServer as createHttp1Server } from "node:http";
import { createServer } from "node:http2";
import {
  IdService,
  type NextIdRequest,
  NextIdRequestSchema,
  type NextIdResponse,
  NextIdResponseSchema,
  ParseResponseSchema,
} from "../../../src/gen/snowlane/v1/id_service_pb.ts";
import { SnowflakeGenerator } from "../../../src/snowflake/generator.ts";
import { parseId } from "../../../src/snowflake/parse.ts";
import { layouts } from "../../../src/snowflake/presets.ts";

const generator = new SnowflakeGenerator({ layout: layouts.twitter, random: Math.random });
const startMs = Date.now();
generator.grant({ datacenterId: 0, workerId: 0, fromMs: startMs, untilMs: startMs + 86_400_000 }, startMs);

function nextId(): bigint {
  for (;;) {
    const id = generator.tryNext(Date.now(), () => performance.now());
    if (id !== undefined) return id;
  }
}

/** No framework: a `stream` event, the request's bytes, the response's bytes, the trailers. */
function serveBare(port: number): void {
  const server = createServer();
  server.on("stream", (stream) => {
    stream.on("error", () => undefined);
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    stream.on("data", () => undefined);
    stream.on("end", () => {
      const answer = Buffer.alloc(14);
      answer.writeUInt32BE(9, 1);
      answer[5] = 9;
      answer.writeBigUInt64LE(nextId(), 6);
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      stream.end(answer);
    });
  });
  server.listen(port, "127.0.0.1");
}

/** A handler of node:http that reads a request and answers with a constant. */
function serveBareHttp1(port: number): void {
  const answer = Buffer.from('{"id":"1234567890123456789"}');
  const fields = { "content-type": "application/json", "content-length": answer.length };
  createHttp1Server((request, response) => {
    request.on("data", () => undefined);
    request.on("end", () => response.writeHead(200, fields).end(answer));
  }).listen(port, "127.0.0.1");
}

function serveConnect(port: number): void {
  const adapter = connectNodeAdapter({
    routes: (router) =>
      router.service(IdService, {
        nextId: () => create(NextIdResponseSchema, { id: nextId() }),
        parse: ({ source }) => {
          const id = source.case === "id" ? source.value : 0n;
          const parsed = parseId(layouts.twitter, id);
          return create(ParseResponseSchema, { id, workerId: parsed.workerId, sequence: parsed.sequence });
        },
      }),
  });
  createServer(adapter).listen(port, "127.0.0.1");
}

function serveGrpcJs(port: number): void {
  const server = new Server();
  server.addService(
    {
      NextId: {
        path: "/snowlane.v1.IdService/NextId",
        requestStream: false,
        responseStream: false,
        requestSerialize: (request: NextIdRequest) => Buffer.from(toBinary(NextIdRequestSchema, request)),
        requestDeserialize: (bytes: Buffer) => fromBinary(NextIdRequestSchema, bytes),
        responseSerialize: (response: NextIdResponse) => Buffer.from(toBinary(NextIdResponseSchema, response)),
        responseDeserialize: (bytes: Buffer) => fromBinary(NextIdResponseSchema, bytes),
      },
    },
    {
      NextId: (_call: unknown, callback: (error: null, response: NextIdResponse) => void) =>
        callback(null, create(NextIdResponseSchema, { id: nextId() })),
    },
  );
  server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error) => {
    if (error !== null) throw error;
  });
}

const [mode, port = ""] = process.argv.slice(2);
const modes: Readonly<Record<string, (port: number) => void>> = {
  bare: serveBare,
  "bare-http1": serveBareHttp1,
  connect: serveConnect,
  "grpc-js": serveGrpcJs,
};
const serve = modes[mode ?? ""];
if (serve === undefined) throw new Error(`usage: node-peer.ts ${Object.keys(modes).join("|")} PORT`);
serve(Number(port));
