import type { ConnectError } from "@connectrpc/connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { encodeMessageField } from "./grpc-message.ts";
import { readGrpcTimeoutMs } from "./grpc-timeout.ts";
import type { Ending, Envelope, Fields } from "./envelope.ts";

const ok: Ending = { kind: "trailers", fields: [["grpc-status", "0"]] };

/** The last failure: calls that are refused for the same cause share their error, and so its trailers. */
let last: { readonly error: ConnectError; readonly ending: Ending } | undefined;

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
    if (trailers.length > 0) return failed(error, trailers);
    if (last?.error !== error) last = { error, ending: failed(error, trailers) };
    return last.ending;
  },
};

function failed(error: ConnectError, trailers: Fields): Ending {
  const fields = encodeMessageField(setTrailerStatus(new Headers(), error));
  return { kind: "trailers", fields: [...trailers, ...fields] };
}
