import type { ConnectError } from "@connectrpc/connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { trailerFlag, trailerSerialize } from "@connectrpc/connect/protocol-grpc-web";
import { readGrpcTimeoutMs } from "./grpc-timeout.ts";
import { withPrefix } from "../../../service/hot/write-protobuf.ts";
import type { Ending, Envelope, Fields } from "./envelope.ts";

const proto = { codec: "binary", response: "application/grpc-web+proto" } as const;
const ok: Ending = { kind: "frame", bytes: trailerFrame(undefined, []) };

/**
 * gRPC-Web: the trailers are the last frame of the body
 * (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-WEB.md). Not its text form, which is base64.
 */
export const grpcWebEnvelope: Envelope = {
  protocol: "gRPC-Web",
  methods: "both",
  contentTypes: {
    "application/grpc-web": proto,
    "application/grpc-web+proto": proto,
    "application/grpc-web+json": { codec: "json", response: "application/grpc-web+json" },
  },
  isPrefixed: true,
  hasDate: true,
  timeoutField: "grpc-timeout",
  readTimeoutMs: readGrpcTimeoutMs,
  // With another value, the answer would name an encoding, though nothing is compressed.
  plainFields: { "grpc-encoding": "identity", "grpc-accept-encoding": "identity" },
  succeed: (trailers) => (trailers.length === 0 ? ok : { kind: "frame", bytes: trailerFrame(undefined, trailers) }),
  fail: (error, trailers) => ({ kind: "frame", bytes: trailerFrame(error, trailers) }),
};

function trailerFrame(error: ConnectError | undefined, trailers: Fields): Uint8Array {
  const fields = new Headers([
    ["grpc-status", "0"],
    ...trailers.map(([name, value]): [string, string] => [name, value]),
  ]);
  if (error !== undefined) setTrailerStatus(fields, error);
  return withPrefix(trailerFlag, trailerSerialize(fields));
}
