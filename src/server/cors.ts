import { cors } from "@connectrpc/connect";
import type { UniversalServerRequest, UniversalServerResponse } from "@connectrpc/connect/protocol";

/** How long a browser may keep the answer to a preflight: two hours is what Chromium takes at most. */
const preflightAgeS = 7_200;
/** What pages may send: the headers of Connect and gRPC-Web, and a token. */
const allowedHeaders = [...cors.allowedHeaders, "Authorization"].join(", ");
const exposedHeaders = cors.exposedHeaders.join(", ");

/**
 * Lets pages of a few other origins call: cross-origin resource sharing, https://fetch.spec.whatwg.org/#http-cors-protocol.
 *
 * What is not said here, a browser forbids: an origin is on the list, letter for letter, or gets no header at all. No
 * call that issues IDs can come from a page without a preflight, because it must be a POST of JSON or protobuf.
 * Credentials of the browser (cookies, client certificates) are never asked for; tokens are sent by the page itself.
 */
export class CrossOrigin {
  readonly #origins: ReadonlySet<string>;

  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins);
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

  /** Writes into the headers of a response what its page may see. */
  mark(request: UniversalServerRequest, header: Headers): void {
    if (this.#origins.size === 0) return;
    // A cache must not give one origin the answer that was meant for another.
    header.append("vary", "Origin");
    if (!this.#isAllowed(request.header)) return;
    header.set("access-control-allow-origin", request.header.get("origin") ?? "");
    if (request.method !== "OPTIONS") header.set("access-control-expose-headers", exposedHeaders);
  }

  #isAllowed(header: Headers): boolean {
    return this.#origins.has(header.get("origin") ?? "");
  }
}
