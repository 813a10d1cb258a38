import { type ConnectRouter, createConnectRouter } from "@connectrpc/connect";
import { compressionGzip } from "@connectrpc/connect-node";
import type { UniversalHandler, UniversalServerRequest, UniversalServerResponse } from "@connectrpc/connect/protocol";
import type { Interceptor } from "@connectrpc/connect";
import { CrossOrigin } from "./cors.ts";
import { spellMessage } from "./grpc-message.ts";

/**
 * Answers one request, whatever carried it: one HTTP/2 stream, or one HTTP/1.1 request. Knows no socket. The response's
 * body is pulled as fast as the reader takes it; a response without body and trailer is sent as one block of headers
 * that ends the stream.
 */
export type Dispatch = (request: UniversalServerRequest) => Promise<UniversalServerResponse>;

/** What a dispatch is made from. */
export interface DispatchOptions {
  /** Registers the services. */
  readonly routes: (router: ConnectRouter) => void;
  readonly interceptors: readonly Interceptor[];
  /** Ends every call that is still running, with its reason. */
  readonly shutdownSignal: AbortSignal;
  /** The largest request message, compressed and not. Default {@link requestBytesMax}. */
  readonly requestBytesMax?: number;
  /** Other origins whose pages may call. Default: none. */
  readonly corsOrigins?: readonly string[];
}

/** The largest request message, compressed and not: no request of ours comes near it. */
const requestBytesMax = 4096;
/** setTimeout takes 2^31 - 1 ms at most and fires at once above it: a deadline beyond that (24 days) is none. */
const timeoutMsMax = 2 ** 31 - 1;

/** Makes the dispatch of gRPC, gRPC-Web and Connect for all services. */
export function createDispatch(options: DispatchOptions): Dispatch {
  const { routes, interceptors, shutdownSignal } = options;
  const router = createConnectRouter({
    interceptors: [...interceptors],
    shutdownSignal,
    readMaxBytes: options.requestBytesMax ?? requestBytesMax,
    acceptCompression: [compressionGzip],
    // Responses are never compressed: IDs shrink little and slowly.
    compressMinBytes: 0xffff_ffff,
  });
  routes(router);
  const crossOrigin = new CrossOrigin(options.corsOrigins ?? []);
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  return async (request) => {
    const path = new URL(request.url).pathname;
    const handler = handlers.get(path);
    if (handler === undefined) return unknownPath(request, path);
    const preflight = crossOrigin.preflight(request, handler.allowedMethods);
    const response = finish(preflight ?? (await handler(withBoundedTimeout(request))), handler);
    crossOrigin.mark(request, response.header);
    return response;
  };
}

/** A gRPC client reads a plain 404 as INTERNAL; what it understands is UNIMPLEMENTED in headers that end the stream. */
function unknownPath(request: UniversalServerRequest, path: string): UniversalServerResponse {
  const contentType = request.header.get("content-type") ?? "";
  if (request.method !== "POST" || !contentType.startsWith("application/grpc")) return { status: 404 };
  // The percent-encoding of gRPC's messages encodes little but the percent sign itself.
  const message = `There is no method ${path.replaceAll("%", "%25")}`;
  const header = new Headers({ "content-type": contentType, "grpc-status": "12", "grpc-message": message });
  return { status: 200, header };
}

/** No response may be served again from a cache: a second reader would take the first one's ID for its own. */
function finish(
  response: UniversalServerResponse,
  { allowedMethods }: UniversalHandler,
): UniversalServerResponse & { readonly header: Headers } {
  const header = spellMessage(new Headers(response.header));
  header.set("cache-control", "no-store");
  if (response.status === 405) header.set("allow", allowedMethods.join(", "));
  return { ...response, header };
}

function withBoundedTimeout(request: UniversalServerRequest): UniversalServerRequest {
  const { header } = request;
  const unitMs: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1 };
  const [, digits, unit] = /^(\d{1,8})([HMSm])$/.exec(header.get("grpc-timeout") ?? "") ?? [];
  if (Number(digits) * (unitMs[unit ?? ""] ?? 0) > timeoutMsMax) header.delete("grpc-timeout");
  if (Number(header.get("connect-timeout-ms")) > timeoutMsMax) header.delete("connect-timeout-ms");
  return request;
}
