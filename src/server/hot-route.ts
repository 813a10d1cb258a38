import { encodeFields } from "../http2/hpack-encoder.ts";
import type { RequestHead } from "../http2/request-head.ts";
import type { HotMethod } from "../hot-methods.ts";

/** What the head of a plain gRPC call of a hot method says. */
export interface HotRoute {
  readonly method: HotMethod;
  readonly contentType: string;
  /** The head of its response, but for one that ends with it. */
  readonly responseHead: Buffer;
  /** Until its deadline, from the moment of the head; undefined where there is none. */
  readonly timeoutMs: number | undefined;
}

/** Responses carry what those of all other methods carry: see dispatch.ts. */
const contentTypes: ReadonlyMap<string, Buffer> = new Map(
  ["application/grpc", "application/grpc+proto"].map((contentType) => [
    contentType,
    encodeFields([
      [":status", "200"],
      ["content-type", contentType],
      ["cache-control", "no-store"],
    ]),
  ]),
);

/** setTimeout takes no more, and a deadline in 24 days is none. */
const timeoutMsMax = 2 ** 31 - 1;
/** gRPC over HTTP/2, "Timeout": at most eight digits and a unit, here in milliseconds. */
const timeoutPattern = /^(\d{1,8})([HMSmun])$/;
const unitMs: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 1e-3, n: 1e-6 };

/**
 * Reads the head of a request. Undefined where it is not a call of a hot method in plain gRPC: another method, protocol
 * or codec, compressed messages, a timeout that is malformed. Those go the way of all other methods, which knows what
 * to make of them.
 */
export function readHotRoute(head: RequestHead, methods: ReadonlyMap<string, HotMethod>): HotRoute | undefined {
  const method = head.method === "POST" ? methods.get(head.path) : undefined;
  if (method === undefined) return undefined;
  let contentType = "";
  let timeoutMs: number | undefined;
  for (const { name, value } of head.fields) {
    switch (name) {
      case "content-type":
        if (contentType !== "") return undefined;
        contentType = value;
        break;
      case "grpc-timeout":
        if (timeoutMs !== undefined) return undefined;
        timeoutMs = readTimeoutMs(value);
        if (timeoutMs === undefined) return undefined;
        break;
      case "grpc-encoding":
        if (value !== "identity") return undefined;
        break;
      default:
    }
  }
  const responseHead = contentTypes.get(contentType);
  if (responseHead === undefined) return undefined;
  return {
    method,
    contentType,
    responseHead,
    timeoutMs: timeoutMs !== undefined && timeoutMs > timeoutMsMax ? undefined : timeoutMs,
  };
}

function readTimeoutMs(value: string): number | undefined {
  const match = timeoutPattern.exec(value);
  return match === null ? undefined : Number(match[1]) * unitMs[match[2]!]!;
}
