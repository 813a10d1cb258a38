import { isIPv6 } from "node:net";

/** The part of a request that says what is asked for. */
export interface RequestTarget {
  /** The URL, for the query of a GET. Its path is normalised, so it must not be compared. */
  readonly url: string;
  /** The path as the client sent it, without the query. */
  readonly path: string;
}

/**
 * Reads a request's target. Dot segments, backslashes and percent-encodings of the path stay as they were sent: a proxy
 * that admits paths by their prefix would otherwise admit one path, and this server serve another.
 *
 * @param authority - As the client sent it; empty where it sent none. node:http2 as a client leaves out the brackets of
 * an IPv6 address (`::1:7609`), and so do all clients that are built on it.
 * @returns undefined where it cannot be a URL.
 */
export function readRequestTarget(authority: string, pathAndQuery: string): RequestTarget | undefined {
  const url = URL.parse(`http://${authority === "" ? "localhost" : bracketed(authority)}${pathAndQuery}`)?.toString();
  return url === undefined ? undefined : { url, path: pathAndQuery.replace(/\?.*/s, "") };
}

/** Removes scheme and authority of a target in absolute form, which clients send to proxies: RFC 9112 section 3.2.2. */
export function withoutAuthority(target: string): string {
  return target.replace(/^https?:\/\/[^/?]*\/?/i, "/");
}

function bracketed(authority: string): string {
  if (!/^[0-9a-f]*:.*:/i.test(authority)) return authority;
  const [, host = "", port = ""] = /^(.+):(\d{1,5})$/.exec(authority) ?? [];
  if (isIPv6(host)) return `[${host}]:${port}`;
  return isIPv6(authority) ? `[${authority}]` : authority;
}
