import { createAsyncIterable, type UniversalServerResponse } from "@connectrpc/connect/protocol";
import { securityHeaders } from "./security-headers.ts";

/** A response of a few words that no cache keeps. HEAD gets its head alone. */
export function textAnswer(
  status: number,
  method: string,
  text: string,
  more: Readonly<Record<string, string>> | Headers = {},
): UniversalServerResponse {
  const content = new TextEncoder().encode(text);
  const header = new Headers({
    "cache-control": "no-store",
    "content-type": "text/plain; charset=utf-8",
    "content-length": String(content.length),
    ...securityHeaders,
    ...(more instanceof Headers ? Object.fromEntries(more) : more),
  });
  if (status === 405 && !header.has("allow")) header.set("allow", "GET, HEAD");
  return withBody(status, header, method, content);
}

/** A response with these bytes. HEAD gets its head alone. */
export function withBody(
  status: number,
  header: Headers,
  method: string,
  content: Uint8Array<ArrayBuffer>,
): UniversalServerResponse {
  return method === "HEAD" ? { status, header } : { status, header, body: createAsyncIterable([content]) };
}
