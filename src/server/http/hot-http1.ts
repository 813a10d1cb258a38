import type { IncomingMessage, ServerResponse } from "node:http";
import type { ConnectError } from "@connectrpc/connect";
import { systemClock } from "../../clock/clock.ts";
import type { Application } from "../call/application.ts";
import type { Fields } from "../call/envelope/envelope.ts";
import { bodyBytesMax, HotCalls } from "../call/hot-calls.ts";
import { envelopesOf, pathOf } from "../call/hot-route.ts";
import type { CallCounter } from "./call-counter.ts";
import { Http1Call, type Http1CallOptions, type Http1Head } from "./http1-call.ts";
import type { ConnectionOptions } from "./http2-server.ts";
import type { ServeExchange } from "./node-exchange.ts";
import { readRequestTarget } from "./request-target.ts";

/** Serves a request of HTTP/1.1. */
export type ServeHttp1 = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Serves plain calls of the hot methods over HTTP/1.1 on bytes, and hands every other request to `others`. Most
 * of the time of such a call is node:http's own. docs/adr/0120 says what is hot.
 */
export function createHotHttp1(
  { hotMethods, crossOrigin, guard, toError, shutdownSignal }: Application,
  { stallTimeoutMs, trustedProxies, onFault }: ConnectionOptions,
  calls: CallCounter,
  others: ServeExchange,
): ServeHttp1 {
  const paths = new Set(hotMethods.map(pathOf));
  const hot = new HotCalls<Http1Head, Http1Call>({
    methods: hotMethods,
    envelopes: envelopesOf["HTTP/1.1"],
    crossOrigin,
    encode: encodeHead,
    dateClock: undefined,
    others: (call) => call.handOn(others),
    clock: systemClock,
    stallTimeoutMs,
    guard,
    timesEach: true,
    peerOf: (call) => call.peer,
    toError,
  });
  shutdownSignal.addEventListener("abort", () => hot.endAll(shutdownSignal.reason as ConnectError));
  const callOptions: Http1CallOptions = { calls, stallTimeoutMs, trustedProxies, onFault };
  return (request, response) => {
    if (!paths.has(request.url!) || !hasSmallBody(request) || !hasSoundHost(request)) others(request, response);
    else new Http1Call(request, response, callOptions).begin((call) => hot.onRequest(call));
  };
}

function encodeHead(fields: Fields): Http1Head {
  const [[, status] = ["", "200"], ...rest] = fields;
  return { status: Number(status), fields: rest.flat() };
}

/** A body of unknown length is read on the general way, as it comes. */
function hasSmallBody({ headers }: IncomingMessage): boolean {
  const length = headers["content-length"];
  return headers["transfer-encoding"] === undefined && (length === undefined || Number(length) <= bodyBytesMax);
}

let lastSoundHost = "";

/** Whether the general way would serve it, and not answer 400. Most requests name the host of the request before. */
function hasSoundHost({ headers: { host = "" }, url }: IncomingMessage): boolean {
  if (host === lastSoundHost) return true;
  if (readRequestTarget(host, url!) === undefined) return false;
  lastSoundHost = host;
  return true;
}
