import {
  Code,
  ConnectError,
  type ConnectRouter,
  createConnectRouter,
  type HandlerContext,
  type Interceptor,
} from "@connectrpc/connect";
import { compressionGzip } from "@connectrpc/connect-node";
import type { UniversalHandler, UniversalServerRequest, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { callOver } from "./call-errors.ts";
import { type Caller, guardedKey } from "./call-guard.ts";
import { CrossOrigin } from "./cors.ts";
import { encodeMessage, encodeMessageField } from "./envelope/grpc-message.ts";
import { peerKey } from "./peer.ts";
import { answerGrpcProbe, answerProbe, type FindUnready } from "./probes.ts";
import { readGrpcTimeoutMs, timeoutMsMax } from "./envelope/grpc-timeout.ts";
import { unknownPathLine, wrongMethodLine, streamLine, wrongQueryLine, wrongTypeLine } from "./refusal-lines.ts";
import { isGrpcType, securityFields } from "./security-headers.ts";
import { textAnswer } from "./text-answer.ts";

/** One request, whatever carried it. */
export interface DispatchRequest extends UniversalServerRequest {
  /** The path as the client sent it, without the query: it is compared byte by byte. */
  readonly path: string;
}

/**
 * Answers one request, whatever carried it: one HTTP/2 stream, or one HTTP/1.1 request. Knows no socket. The response's
 * body is pulled as fast as the reader takes it; a response without body and trailer is sent as one block of headers
 * that ends the stream.
 */
export type Dispatch = (request: DispatchRequest) => Promise<UniversalServerResponse>;

/** Answers a request of `/metrics`. */
export type AnswerMetrics = (request: DispatchRequest) => Promise<UniversalServerResponse>;

/** The routes of a dispatch, the limits of requests, and the paths that it answers besides calls. */
export interface DispatchOptions {
  /** Registers the services. */
  readonly routes: (router: ConnectRouter) => void;
  /** Asked for each call, in this order, before its method. */
  readonly interceptors: readonly Interceptor[];
  /** Ends every call that is still running, with its reason. */
  readonly shutdownSignal: AbortSignal;
  /** The largest request message in bytes, compressed and not. Default: {@link requestBytesMax}. */
  readonly requestBytesMax?: number;
  /** Other origins whose pages may call. Default: none. */
  readonly crossOrigin?: CrossOrigin;
  /** Finds the error that the probes answer with. Default: there are no probes. */
  readonly findUnready?: FindUnready;
  /** Whether the page's files are served. Default: they are not. */
  readonly page?: "on" | "off";
  /** Answers `/metrics`. Default: there is no such path. */
  readonly answerMetrics?: AnswerMetrics | undefined;
  /** As {@link CallGuard.arrive}. */
  readonly onArrival?: ((caller: Caller, path: string) => void) | undefined;
  /** As {@link CallGuard.unread}, with the path of the method. */
  readonly onRefusedUnread?: ((path: string | undefined, error: ConnectError, caller?: Caller) => void) | undefined;
}

/** The largest request message, compressed and not: no request of ours comes near it. */
const requestBytesMax = 4096;

/** Makes the dispatch of gRPC, gRPC-Web and Connect for all services. */
export function createDispatch(options: DispatchOptions): Dispatch {
  const { routes, interceptors, shutdownSignal, onArrival, onRefusedUnread } = options;
  const endAtShutdown = endersAt(shutdownSignal);
  const router = createConnectRouter({
    interceptors: [refuseLate, ...interceptors],
    readMaxBytes: options.requestBytesMax ?? requestBytesMax,
    acceptCompression: [compressionGzip],
    // Responses are never compressed: IDs shrink little and slowly.
    compressMinBytes: 0xffff_ffff,
    requestGate: (context) => {
      endAtShutdown(context as EndableContext);
      const caller = callerOf(context);
      watchEnd(context as EndableContext, (path, error) => onRefusedUnread?.(path, error, caller));
      onArrival?.(caller, `/${context.service.typeName}/${context.method.name}`);
    },
  });
  routes(router);
  const { crossOrigin = new CrossOrigin([]) } = options;
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  return async (request) => {
    const handler = handlers.get(request.path);
    if (handler === undefined) return (await answerOther(request, options)) ?? unknownPath(request, onRefusedUnread);
    const preflight = crossOrigin.preflight(request, handler.allowedMethods);
    const response = finish(preflight ?? (await handler(withBoundedTimeout(request))), handler);
    crossOrigin.mark(request, response.header);
    if (badStatuses.has(response.status)) onRefusedUnread?.(request.path, new ConnectError("no call", Code.Unknown));
    if (response.status === 405) return textAnswer(405, request.method, wrongMethodLine, response.header);
    if (response.status === 415) {
      const isQuery = request.method === "GET" || request.method === "HEAD";
      const line = isQuery ? wrongQueryLine : (streamLine(request.path) ?? wrongTypeLine);
      return textAnswer(415, request.method, line, response.header);
    }
    return response;
  };
}

/**
 * The statuses with which Connect answers requests that are not calls: it does not take their method, content type or
 * version. RFC 9110, 15.5.
 */
const badStatuses: ReadonlySet<number> = new Set([405, 415, 505]);

/** The body of a call may come after its deadline; then nothing is done for the call. */
const refuseLate: Interceptor = (next) => (request) => {
  request.signal.throwIfAborted();
  return next(request);
};

/** The context of a call, with the function that ends it. */
type EndableContext = HandlerContext & { readonly abort: (reason: unknown) => void };

/**
 * Makes a function that has a call end with the reason of a signal. The signal has one listener for all calls: an
 * EventTarget compares each new listener with all that it has, so with one for each call, a call would cost more the
 * more streams are open.
 */
function endersAt(signal: AbortSignal): (context: EndableContext) => void {
  const open = new Set<EndableContext>();
  signal.addEventListener("abort", () => {
    for (const context of open) context.abort(signal.reason);
  });
  return (context) => {
    if (signal.aborted) context.abort(signal.reason);
    if (context.signal.aborted) return;
    open.add(context);
    context.signal.addEventListener("abort", () => open.delete(context), { once: true });
  };
}

function callerOf({ requestHeader, values }: HandlerContext): Caller {
  return { peer: values.get(peerKey), header: (name) => requestHeader.get(name) ?? undefined };
}

/**
 * Intercepts the end of a call. Connect ends each call by `abort`, with the call's error, before it writes that error.
 *
 * Lone surrogates in the error's message are replaced: Connect's own errors repeat what the caller sent, JSON can hold
 * a lone surrogate, and the percent-encoding of gRPC's messages throws for one. A call that went well is ended without
 * a reason, for which AbortController makes a DOMException with a stack trace: some 8 of a call's 200 µs.
 */
function watchEnd(context: EndableContext, onRefusedUnread: (path: string, error: ConnectError) => void): void {
  const { abort, service, method, values } = context;
  let isOver = false;
  const end = (reason: unknown = callOver()): void => {
    if (!isOver && !values.get(guardedKey))
      onRefusedUnread(`/${service.typeName}/${method.name}`, ConnectError.from(reason));
    isOver = true;
    if (reason instanceof ConnectError) Object.assign(reason, { rawMessage: reason.rawMessage.toWellFormed() });
    abort(reason);
  };
  Object.assign(context, { abort: end });
}

/**
 * The answer of a probe, of the metrics or of the page, which are loaded on first use; undefined where the request is a
 * call.
 */
async function answerOther(
  request: DispatchRequest,
  { findUnready, page, answerMetrics }: DispatchOptions,
): Promise<UniversalServerResponse | undefined> {
  const contentType = request.header.get("content-type");
  if (isGrpc(request.method, contentType)) {
    return findUnready && answerGrpcProbe(request.path, contentType, findUnready);
  }
  if (answerMetrics !== undefined && request.path === "/metrics") return answerMetrics(request);
  const probe = findUnready && answerProbe(request, findUnready);
  if (probe !== undefined || page !== "on") return probe;
  const { answerPage } = await import("./page-files.ts");
  return answerPage(request);
}

function unknownPath(
  { method, header, path }: DispatchRequest,
  onRefusedUnread: DispatchOptions["onRefusedUnread"],
): UniversalServerResponse {
  const error = new ConnectError(`There is no method ${path}`, Code.Unimplemented);
  // Requests by other methods are not calls.
  if (method === "POST") onRefusedUnread?.(undefined, error);
  const answer = refuse(method, header.get("content-type"), 404, error);
  return answer.status === 404 ? textAnswer(404, method, unknownPathLine) : answer;
}

/** The answer to a request whose header fields are too many or too large. Proxies pass such requests on. */
export function refuseHead(
  method: string | undefined,
  contentType: string | null | undefined,
): UniversalServerResponse {
  const error = new ConnectError("The header fields are too many or too large", Code.ResourceExhausted);
  return refuse(method, contentType, 431, error);
}

/**
 * A gRPC client reads most statuses of HTTP as INTERNAL or UNKNOWN: it needs a status of gRPC, in one block that ends
 * the stream.
 */
function refuse(
  method: string | undefined,
  contentType: string | null | undefined,
  status: number,
  { code, rawMessage }: ConnectError,
): UniversalServerResponse {
  if (!isGrpc(method, contentType)) return { status };
  const message = encodeMessage(rawMessage);
  const header = new Headers({ "content-type": contentType, "grpc-status": String(code), "grpc-message": message });
  return { status: 200, header };
}

function isGrpc(method: string | undefined, contentType: string | null | undefined): contentType is string {
  return method === "POST" && contentType?.startsWith("application/grpc") === true;
}

/** No response may be served again from a cache: a second reader would take the first one's ID for its own. */
function finish(
  response: UniversalServerResponse,
  { allowedMethods }: UniversalHandler,
): UniversalServerResponse & { readonly header: Headers } {
  const header = encodeMessageField(new Headers(response.header));
  header.set("cache-control", "no-store");
  if (!isGrpcType(header.get("content-type"))) for (const [name, value] of securityFields) header.set(name, value);
  if (response.status === 405) header.set("allow", allowedMethods.join(", "));
  return { ...response, header };
}

function withBoundedTimeout(request: UniversalServerRequest): UniversalServerRequest {
  const { header } = request;
  const timeoutMs = readGrpcTimeoutMs(header.get("grpc-timeout") ?? "");
  if (timeoutMs !== undefined && timeoutMs > timeoutMsMax) header.delete("grpc-timeout");
  if (Number(header.get("connect-timeout-ms")) > timeoutMsMax) header.delete("connect-timeout-ms");
  return request;
}
