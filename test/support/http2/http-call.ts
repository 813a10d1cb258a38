import { once } from "node:events";
import { type IncomingHttpHeaders, request as requestHttp } from "node:http";
import { connect } from "node:http2";
import { request as requestHttps } from "node:https";
import { connect as connectTcp } from "node:net";

/** An answer over HTTP, whole. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly trailers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A request; POST of JSON by default. */
export interface HttpQuestion {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Of the server's certificate, in PEM. */
  readonly ca?: Buffer;
}

const json = { "content-type": "application/json" };

/** Asks over HTTP/1.1, on a connection of its own. */
export async function askHttp1(
  url: string,
  { path, method = "POST", headers = json, body, ca }: HttpQuestion,
): Promise<HttpAnswer> {
  const request = url.startsWith("https:") ? requestHttps : requestHttp;
  // The path stays as it is: in a URL it would be normalised.
  const call = request(url, { path, method, headers, agent: false, ...(ca && { ca }) });
  call.end(body);
  const [response] = await once(call, "response");
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const { statusCode, headers: answered, trailers } = response;
  return { status: statusCode, headers: answered, trailers, body: Buffer.concat(chunks) };
}

/** Asks over HTTP/2, on a connection of its own. */
export async function askHttp2(
  url: string,
  { path, method = "POST", headers = json, body, ca }: HttpQuestion,
): Promise<HttpAnswer> {
  const session = connect(url, { ...(ca && { ca }) });
  // Its streams see it too.
  session.on("error", () => undefined);
  try {
    const stream = session.request({ ":path": path, ":method": method, ...headers });
    stream.end(body);
    let trailers: IncomingHttpHeaders = {};
    stream.once("trailers", (received) => (trailers = received));
    const cut = once(stream, "close").then(() => Promise.reject(new Error("the stream was closed without an answer")));
    const [answered] = await Promise.race([once(stream, "response"), cut]);
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    return { status: answered[":status"], headers: answered, trailers, body: Buffer.concat(chunks) };
  } finally {
    session.destroy();
  }
}

/**
 * Sends bytes on a fresh connection, in pieces with a pause between, and gives what comes back until the server closes
 * or `untilText` came.
 */
export async function sendBytes(
  address: string,
  pieces: readonly (string | Buffer)[],
  untilText?: string,
): Promise<string> {
  const [host, port] = address.split(":");
  const socket = connectTcp(Number(port), host);
  let received = "";
  socket.on("error", () => undefined);
  const enough = new Promise<void>((resolve) => {
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
      if (untilText !== undefined && received.includes(untilText)) resolve();
    });
    socket.once("close", () => resolve());
  });
  for (const piece of pieces) {
    socket.write(piece);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await enough;
  socket.destroy();
  return received;
}

/** One gRPC message: flag, length, bytes. */
export function grpcFrame(message: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}
