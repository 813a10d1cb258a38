import type { DescMethod } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { askHttp1, askHttp2, grpcFrame, type HttpAnswer } from "./http-call.ts";

const empty = grpcFrame(new Uint8Array(0));

/** One protocol over one version of HTTP. */
export interface CallWay {
  readonly ask: typeof askHttp1;
  readonly contentType: (method: DescMethod) => string;
  /** An empty request. */
  readonly body: (method: DescMethod) => string | Buffer;
  /** Whether calls of this method can be made so. */
  readonly carries: (method: DescMethod) => boolean;
}

const isUnary = ({ methodKind }: DescMethod): boolean => methodKind === "unary";
const isNoUpload = ({ methodKind }: DescMethod): boolean => methodKind !== "bidi_streaming";
const connect = {
  contentType: (method: DescMethod) => (isUnary(method) ? "application/json" : "application/connect+json"),
  body: (method: DescMethod) => (isUnary(method) ? "{}" : grpcFrame(Buffer.from("{}"))),
  carries: isNoUpload,
};
const grpcWeb = { contentType: () => "application/grpc-web+proto", body: () => empty, carries: isNoUpload };
const grpc = { ask: askHttp2, contentType: () => "application/grpc", body: () => empty, carries: () => true };

/** All protocols of a server, with the two ways through it. */
export const callWays: Readonly<Record<string, CallWay>> = {
  gRPC: grpc,
  "gRPC on the general way": {
    ...grpc,
    contentType: () => "application/grpc+json",
    body: () => grpcFrame(Buffer.from("{ }")),
  },
  "gRPC-Web over HTTP/2": { ...grpcWeb, ask: askHttp2 },
  "gRPC-Web over HTTP/1.1": { ...grpcWeb, ask: askHttp1 },
  "Connect over HTTP/2": { ...connect, ask: askHttp2 },
  "Connect over HTTP/1.1": { ...connect, ask: askHttp1 },
};

/** The code that a call ended with, in whichever protocol: 0 for OK. */
export function codeOf({ headers, trailers, body }: HttpAnswer): number {
  const inGrpc = trailers["grpc-status"] ?? headers["grpc-status"];
  if (inGrpc !== undefined) return Number(inGrpc);
  const text = body.toString("latin1");
  const inGrpcWeb = /grpc-status: ?(\d+)/.exec(text)?.[1];
  if (inGrpcWeb !== undefined) return Number(inGrpcWeb);
  const inConnect = /"code":"(\w+)"/.exec(text)?.[1]?.replaceAll("_", "");
  if (inConnect === undefined) return 0;
  return Number(Object.entries(Code).find(([name]) => name.toLowerCase() === inConnect)?.[1]);
}
