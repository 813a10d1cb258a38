import { isIPv6 } from "node:net";

/**
 * The URL of a request, of which the path is looked at.
 *
 * @param authority - As the client sent it; empty where it sent none. node:http2 leaves the brackets of an IPv6 address
 * away as a client (`::1:7609`), and with it whoever calls by it.
 * @returns undefined where it can be none.
 */
export function requestUrl(authority: string, path: string): string | undefined {
  return URL.parse(`http://${authority === "" ? "localhost" : bracketed(authority)}${path}`)?.toString();
}

function bracketed(authority: string): string {
  if (!/^[0-9a-f]*:.*:/i.test(authority)) return authority;
  const [, host = "", port = ""] = /^(.+):(\d{1,5})$/.exec(authority) ?? [];
  if (isIPv6(host)) return `[${host}]:${port}`;
  return isIPv6(authority) ? `[${authority}]` : authority;
}
