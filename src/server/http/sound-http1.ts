import type { IncomingMessage } from "node:http";
import { securityHeaders } from "../call/security-headers.ts";
import type { ServeHttp1 } from "./hot-http1.ts";

/**
 * Serves the requests of HTTP/1.0 and HTTP/1.1 that name at most one host, and refuses the others. node:http serves
 * those, too: it takes the first of several `host` fields, and reads any version of one digit and a dot that it knows.
 */
export function onlySound(serve: ServeHttp1): ServeHttp1 {
  return (request, response) => {
    const refusal = refusalOf(request);
    if (refusal === undefined) {
      serve(request, response);
      return;
    }
    const [status, text] = refusal;
    response.writeHead(status, {
      ...securityHeaders,
      "cache-control": "no-store",
      "content-type": "text/plain; charset=utf-8",
      "content-length": String(text.length),
      // The rest of the request is not read.
      connection: "close",
    });
    response.end(request.method === "HEAD" ? undefined : text);
  };
}

function refusalOf({ httpVersionMajor, httpVersion, rawHeaders }: IncomingMessage) {
  // RFC 9110 section 15.6.6.
  if (httpVersionMajor !== 1) {
    return [505, `This connection speaks HTTP/1.1; the request line says HTTP/${httpVersion}.\n`] as const;
  }
  // RFC 9112 section 3.2: a proxy may have judged by another field.
  if (hasSeveralHosts(rawHeaders)) return [400, "The request has more than one Host field.\n"] as const;
  return undefined;
}

/** @param rawHeaders - Names and values in turn, as they were sent. */
function hasSeveralHosts(rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (name.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  return count > 1;
}
