import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { encodeMessageField } from "./grpc-message.ts";
import { readGrpcTimeoutMs } from "./grpc-timeout.ts";
import type { Ending, Envelope } from "./envelope.ts";

const ok: Ending = { kind: "trailers", fields: [["grpc-status", "0"]] };

/** gRPC over HTTP/2: https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md. */
export const grpcEnvelope: Envelope = {
  protocol: "gRPC",
  methods: "both",
  contentTypes: {
    "application/grpc": { codec: "binary", response: "application/grpc" },
    "application/grpc+proto": { codec: "binary", response: "application/grpc+proto" },
    "application/grpc+json": { codec: "json", response: "application/grpc+json" },
  },
  isPrefixed: true,
  hasDate: false,
  timeoutField: "grpc-timeout",
  readTimeoutMs: readGrpcTimeoutMs,
  plainFields: { "grpc-encoding": "identity" },
  succeed: (trailers) =>
    trailers.length === 0 ? ok : { kind: "trailers", fields: [["grpc-status", "0"], ...trailers] },
  fail: (error, trailers) => {
    const fields = encodeMessageField(setTrailerStatus(new Headers(), error));
    return { kind: "trailers", fields: [...trailers, ...fields] };
  },
};
