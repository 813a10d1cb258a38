import type { IncomingMessage } from "node:http";
import { errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import type { Application } from "../call/application.ts";
import { securityHeaders } from "../call/security-headers.ts";
import type { HostCheck } from "./host-check.ts";
import type { ServeHttp1 } from "./hot-http1.ts";

/** The check of a request's host, and the functions by which a refused request is answered and counted. */
interface NamedParts {
  /** Decides which requests pass, and counts the others. */
  readonly hostCheck: HostCheck;
  /** Makes the error that a refused call gets. */
  readonly toError: Application["toError"];
  /** The address of the caller of a request. */
  readonly addressOf: (request: IncomingMessage) => string;
}

/** Serves the requests that the check lets pass, and answers the others with 403. */
export function withHostCheck(serve: ServeHttp1, { hostCheck: check, toError, addressOf }: NamedParts): ServeHttp1 {
  return (request, response) => {
    const refusal = check.refusalOf(request);
    if (refusal === undefined) {
      serve(request, response);
      return;
    }
    check.noteRefusal(addressOf(request));
    const isCall = request.method === "POST";
    // The error in the form of Connect's unary calls; a client of gRPC-Web looks at the status.
    const body = isCall
      ? errorToJsonBytes(toError(refusal, request.url ?? ""), undefined)
      : `${refusal.reason}: ${refusal.message}\n`;
    response.writeHead(403, {
      ...securityHeaders,
      "cache-control": "no-store",
      "content-type": isCall ? "application/json" : "text/plain; charset=utf-8",
      "content-length": String(Buffer.byteLength(body)),
      // The rest of the request is not read.
      connection: "close",
    });
    response.end(request.method === "HEAD" ? undefined : body);
  };
}
