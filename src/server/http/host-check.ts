import { isIP } from "node:net";
import { IdError } from "../../errors.ts";
import { OriginList } from "../call/origin-list.ts";

/** The part of a request of HTTP/1.1 that says by which name the server was called, and from which page. */
export interface NamedRequest {
  /** Its target. A target in absolute form takes precedence over `host`: RFC 9112 section 3.2.2. */
  readonly url?: string | undefined;
  readonly headers: { readonly host?: string | undefined; readonly origin?: string | undefined };
}

/** Which requests a {@link HostCheck} checks, and the names and origins that it lets pass. */
export interface HostCheckOptions {
  /**
   * Which requests are checked. `all`: each, by the name that it calls the server by. `of pages`: those with `origin`,
   * by the name in that; a browser sends it with each POST.
   */
  readonly requests: "all" | "of pages";
  /**
   * The server's own names, in lower-case letters, without a dot at the end. `localhost` and addresses are always
   * allowed.
   */
  readonly names: readonly string[];
  /** The origins whose pages may call, such as `https://example.org`. */
  readonly origins: readonly string[];
  /** Called for each request that is refused, with the address of its caller. */
  readonly onRefused?: (address: string) => void;
}

/**
 * Refuses requests that a page of another site made by DNS rebinding: it gives a name of its own the address of this
 * server, and the browser takes the server for that site. The request carries that name in `host`. A numeric address
 * cannot be rebound, so it passes. X-Forwarded-Host is never read.
 *
 * Only for HTTP/1.1 in cleartext: browsers speak HTTP/2 over TLS alone, and there the name needs a valid certificate.
 * docs/adr/0135 has the reasons.
 */
export class HostCheck {
  readonly #requests: HostCheckOptions["requests"];
  readonly #names: ReadonlySet<string>;
  readonly #origins: OriginList;
  readonly #onRefused: HostCheckOptions["onRefused"];
  #lastGoodHost = "";

  constructor({ requests, names, origins, onRefused }: HostCheckOptions) {
    this.#requests = requests;
    this.#names = new Set(["localhost", ...names]);
    this.#origins = new OriginList(origins);
    this.#onRefused = onRefused;
  }

  /**
   * Gives HOST_NOT_ALLOWED for a request that is refused. A request without a host, such as one of HTTP/1.0, does not
   * come from a browser.
   */
  refusalOf(request: NamedRequest): IdError | undefined {
    const { headers } = request;
    if (this.#requests === "of pages") {
      const { origin } = headers;
      if (origin === undefined || this.#origins.has(origin)) return undefined;
      return this.#judge(origin.replace(/^https?:\/\//i, ""));
    }
    const host = hostOf(request);
    if (host === this.#lastGoodHost || host === "") return undefined;
    const refusal = this.#judge(host);
    if (refusal === undefined) this.#lastGoodHost = host;
    return refusal;
  }

  /** Notes that a request was refused. */
  noteRefusal(address: string): void {
    this.#onRefused?.(address);
  }

  #judge(authority: string): IdError | undefined {
    const [, address = "", text = ""] = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9_.-]+))(?::\d*)?$/i.exec(authority) ?? [];
    const name = text.toLowerCase().replace(/\.$/, "");
    if (isIP(address || name) > 0 || this.#names.has(name)) return undefined;
    const meant = name === "" ? "the name in this request" : `the name ${name.slice(0, 253)}`;
    const message =
      `This server does not answer to ${meant}, because a page of another site may have chosen it. Call the server by ` +
      "its address, or have its operator add the name with --hosts.";
    return new IdError("HOST_NOT_ALLOWED", message, { metadata: { host: name.slice(0, 253) } });
  }
}

function hostOf({ url = "/", headers: { host = "" } }: NamedRequest): string {
  if (url.startsWith("/")) return host;
  return /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1] ?? host;
}
