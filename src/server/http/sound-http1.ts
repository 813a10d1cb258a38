import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { securityHeaders } from "../call/security-headers.ts";
import type { ServeHttp1 } from "./hot-http1.ts";

/**
 * Serves the requests of HTTP/1.0 and HTTP/1.1 that name at most one host, and refuses the others. node:http would
 * serve them: it takes the first of several `host` fields, and accepts any version of one digit and a dot that it
 * knows.
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

function refusalOf({ httpVersionMajor, httpVersionMinor, httpVersion, headers, rawHeaders }: IncomingMessage) {
  // RFC 9110 section 15.6.6.
  if (httpVersionMajor !== 1) {
    return [505, `This connection speaks HTTP/1.1; the request line says HTTP/${httpVersion}.\n`] as const;
  }
  // RFC 9112 section 3.2: a proxy may have decided by another field.
  if (hasSeveralHosts(rawHeaders)) return [400, "The request has more than one Host field.\n"] as const;
  const coding = headers["transfer-encoding"];
  if (coding === undefined) return undefined;
  // RFC 9112 section 6.1: it is faulty in HTTP/1.0, and another coding than chunked is not understood here.
  if (httpVersionMinor === 0) return [400, "A request of HTTP/1.0 must not have a Transfer-Encoding.\n"] as const;
  if (coding.trim().toLowerCase() !== "chunked")
    return [501, "The Transfer-Encoding must be chunked and nothing else.\n"] as const;
  return undefined;
}

/** The status of a request that node:http cannot read, by its error; any other is a bad request. */
const statusOfFault: Readonly<Record<string, string>> = {
  // RFC 9110 section 15.6.6.
  HPE_INVALID_VERSION: "505 HTTP Version Not Supported",
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "413 Payload Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

/** Answers bytes that are not a request of HTTP/1.0 or HTTP/1.1, and closes the connection. */
export function refuseUnreadable({ code = "" }: NodeJS.ErrnoException, socket: Duplex): void {
  if (socket.writable) {
    socket.write(`HTTP/1.1 ${statusOfFault[code] ?? "400 Bad Request"}\r\nConnection: close\r\n\r\n`);
  }
  socket.destroy();
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
