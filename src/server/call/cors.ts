import { cors } from "@connectrpc/connect";
import type { Fields } from "./envelope/envelope.ts";
import { OriginList } from "./origin-list.ts";
import type { UniversalServerRequest, UniversalServerResponse } from "@connectrpc/connect/protocol";

/** How long a browser may keep the answer to a preflight: two hours is the longest that Chromium accepts. */
const preflightAgeS = 7_200;
/** The headers of traces and of requests' names, which instruments of pages add to every call. */
const traceHeaders = ["Traceparent", "Tracestate", "Baggage", "B3", "X-Request-Id", "X-Correlation-Id"];
/** The headers that pages may send: those of Connect and gRPC-Web, a token, and those of traces. */
const allowedHeaders = [...cors.allowedHeaders, "Authorization", ...traceHeaders].join(", ");
const exposedHeaders = cors.exposedHeaders.join(", ");

/**
 * Lets pages of a few other origins call: cross-origin resource sharing, https://fetch.spec.whatwg.org/#http-cors-protocol.
 *
 * A browser forbids everything that these headers do not allow: an origin is on the list, or gets no header at all. No
 * call that issues IDs can come from a page without a preflight, because it must be a POST of JSON or protobuf.
 * Credentials of the browser (cookies, client certificates) are never asked for; tokens are sent by the page itself.
 */
export class CrossOrigin {
  readonly #origins: OriginList;

  constructor(origins: readonly string[]) {
    this.#origins = new OriginList(origins);
  }

  /**
   * Answers a preflight of an allowed origin for a path with these methods; undefined for every other request, which
   * goes on to its method.
   */
  preflight(request: UniversalServerRequest, allowedMethods: readonly string[]): UniversalServerResponse | undefined {
    const { method, header } = request;
    if (method !== "OPTIONS" || !header.has("access-control-request-method") || !this.#isAllowed(header)) {
      return undefined;
    }
    const answer = new Headers({
      "access-control-allow-methods": allowedMethods.join(", "),
      "access-control-allow-headers": allowedHeaders,
      "access-control-max-age": String(preflightAgeS),
    });
    return { status: 204, header: answer };
  }

  /** Adds the headers of a response that let its page read it. */
  mark(request: UniversalServerRequest, header: Headers): void {
    for (const [name, value] of this.marks(request.header.get("origin") ?? "")) {
      if (request.method !== "OPTIONS" || name !== "access-control-expose-headers") header.append(name, value);
    }
  }

  /** The fields of a response to a page of this origin; empty where no page may call. */
  marks(origin: string): Fields {
    if (this.#origins.isEmpty) return [];
    // A cache must not give one origin the answer that was meant for another.
    const vary = ["vary", "Origin"] as const;
    if (!this.#origins.has(origin)) return [vary];
    return [vary, ["access-control-allow-origin", origin], ["access-control-expose-headers", exposedHeaders]];
  }

  #isAllowed(header: Headers): boolean {
    return this.#origins.has(header.get("origin") ?? "");
  }
}
