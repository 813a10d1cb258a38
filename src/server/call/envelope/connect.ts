import {
  codeToHttpStatus,
  endStreamFlag,
  endStreamToJson,
  errorToJsonBytes,
} from "@connectrpc/connect/protocol-connect";
import type { ConnectError } from "@connectrpc/connect";
import { withPrefix } from "../../../service/hot/write-protobuf.ts";
import type { Ending, Envelope, Fields } from "./envelope.ts";

/** Connect's grammar: up to ten digits, milliseconds. */
const timeoutPattern = /^\d{1,10}$/;
const readTimeoutMs = (value: string): number | undefined => (timeoutPattern.test(value) ? Number(value) : undefined);
const ok = endFrame(undefined, []);
const json = { codec: "json", response: "application/json" } as const;

/** Connect's unary calls: the message is the body (https://connectrpc.com/docs/protocol#unary-rpcs). */
export const connectEnvelope: Envelope = {
  protocol: "Connect",
  methods: "unary",
  contentTypes: {
    "application/proto": { codec: "binary", response: "application/proto" },
    "application/json": json,
    "application/json; charset=utf-8": json,
  },
  isPrefixed: false,
  hasDate: true,
  timeoutField: "connect-timeout-ms",
  readTimeoutMs,
  plainFields: { "content-encoding": "identity", "connect-protocol-version": "1" },
  succeed: () => undefined,
  fail: (error, trailers) => ({
    kind: "response",
    status: codeToHttpStatus(error.code),
    contentType: "application/json",
    fields: [...error.metadata, ...asHeader(trailers)],
    body: errorToJsonBytes(error, undefined),
  }),
};

/** Connect's streams: https://connectrpc.com/docs/protocol#streaming-rpcs. */
export const connectStreamEnvelope: Envelope = {
  protocol: "Connect streaming",
  methods: "server_streaming",
  contentTypes: {
    "application/connect+proto": { codec: "binary", response: "application/connect+proto" },
    "application/connect+json": { codec: "json", response: "application/connect+json" },
  },
  isPrefixed: true,
  hasDate: true,
  timeoutField: "connect-timeout-ms",
  readTimeoutMs,
  // With another value, the answer would name an encoding, though nothing is compressed.
  plainFields: {
    "connect-content-encoding": "identity",
    "connect-accept-encoding": "identity",
    "connect-protocol-version": "1",
  },
  succeed: (trailers) => (trailers.length === 0 ? ok : endFrame(undefined, trailers)),
  fail: (error, trailers) => endFrame(error, trailers),
};

/** Connect's unary calls carry trailers in the head. */
export function asHeader(trailers: Fields): Fields {
  return trailers.map(([name, value]) => [`trailer-${name}`, value]);
}

function endFrame(error: ConnectError | undefined, trailers: Fields): Ending {
  const metadata = new Headers(trailers.map(([name, value]): [string, string] => [name, value]));
  const text = JSON.stringify(endStreamToJson(metadata, error, undefined));
  return { kind: "frame", bytes: withPrefix(endStreamFlag, Buffer.from(text)) };
}
