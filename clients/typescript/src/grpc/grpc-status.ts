/** How an answer says that a call failed: https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md. */
import { fromBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { StatusSchema } from "../../../../src/gen/google/rpc/status_pb.ts";
import { type ErrorCode, errorCode } from "../../../../src/http2/error-code.ts";
import type { Field } from "../../../../src/http2/hpack/field.ts";
import { nameOfCode } from "./http2-client.ts";

/** Returns fields as Headers, without pseudo fields. */
export function headersOf(fields: readonly Field[]): Headers {
  const headers = new Headers();
  for (const { name, value } of fields) if (!name.startsWith(":")) headers.append(name, value);
  return headers;
}

/** Returns the value of a field; undefined if there is none. */
export function valueOf(fields: readonly Field[], name: string): string | undefined {
  return fields.find((field) => field.name === name)?.value;
}

/** Reads the status in trailers, or in a head that is all of an answer; undefined if the call succeeded. */
export function errorOfTrailers(fields: readonly Field[]): ConnectError | undefined {
  const status = valueOf(fields, "grpc-status");
  if (status === "0") return undefined;
  if (status === undefined) return new ConnectError("protocol error: missing status", Code.Internal, headersOf(fields));
  const details = detailsOf(valueOf(fields, "grpc-status-details-bin"));
  const message = details?.message ?? decodeMessage(valueOf(fields, "grpc-message") ?? "");
  const code = Number(status);
  const isKnown = Number.isInteger(code) && code in Code;
  const error = isKnown
    ? new ConnectError(message, code, headersOf(fields))
    : new ConnectError(`invalid grpc-status: ${status}`, Code.Internal, headersOf(fields));
  error.details = (details?.details ?? []).map(({ typeUrl, value }) => {
    return { type: typeUrl.slice(typeUrl.lastIndexOf("/") + 1), value };
  });
  return error;
}

/**
 * Judges the head of an answer that is not its end; undefined if it is gRPC's. A proxy, or another kind of server,
 * answers otherwise.
 */
export function errorOfHead(fields: readonly Field[]): ConnectError | undefined {
  const status = valueOf(fields, ":status");
  if (status !== "200") return new ConnectError(`HTTP ${status}`, codeOfHttp(Number(status)), headersOf(fields));
  const type = valueOf(fields, "content-type");
  if (/^application\/grpc(?:\+proto)?(?:;|$)/i.test(type ?? "")) return undefined;
  return new ConnectError(`unsupported content type ${type}`, Code.Unknown, headersOf(fields));
}

/** Returns the error for a request that was reset: the table of PROTOCOL-HTTP2.md, section Errors. */
export function errorOfReset(code: ErrorCode): ConnectError {
  return new ConnectError(`http/2 stream closed with error code ${nameOfCode(code)}`, codeOfReset(code));
}

/** https://github.com/grpc/grpc/blob/master/doc/http-grpc-status-mapping.md */
function codeOfHttp(status: number): Code {
  switch (status) {
    case 400:
      return Code.Internal;
    case 401:
      return Code.Unauthenticated;
    case 403:
      return Code.PermissionDenied;
    case 404:
      return Code.Unimplemented;
    case 429:
    case 502:
    case 503:
    case 504:
      return Code.Unavailable;
    default:
      return Code.Unknown;
  }
}

function codeOfReset(code: ErrorCode): Code {
  switch (code) {
    case errorCode.refusedStream:
      return Code.Unavailable;
    case errorCode.cancel:
      return Code.Canceled;
    case errorCode.enhanceYourCalm:
      return Code.ResourceExhausted;
    case errorCode.inadequateSecurity:
      return Code.PermissionDenied;
    case errorCode.streamClosed:
      return Code.Unknown;
    default:
      return Code.Internal;
  }
}

/** Reads google.rpc.Status; undefined where it is missing or broken. */
function detailsOf(text: string | undefined) {
  if (text === undefined) return undefined;
  try {
    return fromBinary(StatusSchema, Buffer.from(text, "base64"));
  } catch {
    return undefined;
  }
}

/** Decodes the percent-encoding of grpc-message. A broken one is shown unchanged. */
function decodeMessage(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
