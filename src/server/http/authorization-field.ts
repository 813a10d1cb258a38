import type { IncomingMessage } from "node:http";

/**
 * The field `authorization` of a request. Several values are joined, so that none of them is accepted: node:http and
 * node:http2 show the first alone, and a proxy may have decided by another.
 */
export function authorizationOf({
  headers,
  rawHeaders,
}: Pick<IncomingMessage, "headers" | "rawHeaders">): string | undefined {
  const { authorization } = headers;
  if (authorization === undefined) return undefined;
  const values = rawHeaders.filter(
    (_, index) => rawHeaders[index - 1]?.toLowerCase() === "authorization" && index % 2 === 1,
  );
  return values.length === 1 ? authorization : values.join(", ");
}
