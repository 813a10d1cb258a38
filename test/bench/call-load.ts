/**
 * Calls of gRPC that h2load cannot make, for their messages differ or they show a certificate: frames are made by hand,
 * and no answer is read.
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { frameFlag, frameType, preface } from "../../src/http2/frame.ts";
import { data, headers, settings, settingsAck, windowUpdate } from "../support/http2/http2-wire.ts";
import type { BenchServer } from "./bench-server.ts";
import { costsOf, type LoadResult } from "./load.ts";

const connectionCount = 4;
const streamCount = 32;

/** The calls of one load. */
export interface CallLoad {
  /** `snowlane.v1.IdService/NextId`. */
  readonly method: string;
  /** Sent in turn. */
  readonly messages: readonly Uint8Array[];
  readonly calls: number;
  /** Over TLS; the client shows the certificate, where there is one. Absent: in cleartext. */
  readonly tls?: { readonly caFile: string; readonly certFile?: string; readonly keyFile?: string };
}

/** Runs the calls on {@link connectionCount} connections, 32 at a time on each. */
export async function runCallLoad(server: BenchServer, load: CallLoad): Promise<LoadResult> {
  const sockets = await Promise.all(Array.from({ length: connectionCount }, () => open(server.port, load.tls)));
  const callsEach = Math.ceil(load.calls / connectionCount / streamCount) * streamCount;
  const costs = costsOf(server);
  const startMs = performance.now();
  await Promise.all(sockets.map((socket, index) => callAll(socket, load, { callsEach, first: index * callsEach })));
  const seconds = (performance.now() - startMs) / 1_000;
  const calls = callsEach * connectionCount;
  const { cpuUs, kernelUs } = costs(calls);
  for (const socket of sockets) socket.destroy();
  return { callsPerSecond: calls / seconds, cpuUs, kernelUs, latenciesMs: [] };
}

const read = (file: string | undefined): Buffer | undefined => (file === undefined ? undefined : readFileSync(file));

async function open(port: number, tls: CallLoad["tls"]): Promise<Socket> {
  const place = { port, host: "127.0.0.1", noDelay: true };
  const socket =
    tls === undefined
      ? connect(place)
      : connectTls({
          ...place,
          ALPNProtocols: ["h2"],
          ca: read(tls.caFile),
          cert: read(tls.certFile),
          key: read(tls.keyFile),
        });
  await once(socket, tls === undefined ? "connect" : "secureConnect");
  socket.write(Buffer.concat([preface, settings(), settingsAck, windowUpdate(0, 2 ** 31 - 65_536)]));
  return socket;
}

async function callAll(
  socket: Socket,
  { method, messages }: CallLoad,
  { callsEach, first }: { readonly callsEach: number; readonly first: number },
): Promise<void> {
  const head = headers(1, "body", [
    [":method", "POST"],
    [":scheme", "http"],
    [":path", `/${method}`],
    [":authority", "127.0.0.1"],
    ["content-type", "application/grpc"],
    ["te", "trailers"],
  ]);
  const bodies = messages.map((message) => data(1, Buffer.concat([prefixOf(message), message]), "end"));
  const requests = bodies.map((body) => ({ bytes: Buffer.concat([head, body]), bodyAt: head.length }));
  const answers = new AnswerCounter(socket);
  for (let sent = 0; sent < callsEach; sent += streamCount) {
    const batch: Buffer[] = [];
    for (let index = 0; index < streamCount; index++) {
      const { bytes, bodyAt } = requests[(first + sent + index) % requests.length]!;
      const request = Buffer.from(bytes);
      const streamId = (sent + index) * 2 + 1;
      // The stream's number is in the last four of a frame's nine bytes.
      request.writeUInt32BE(streamId, 5);
      request.writeUInt32BE(streamId, bodyAt + 5);
      batch.push(request);
    }
    socket.write(Buffer.concat(batch));
    await answers.until(sent + streamCount);
  }
}

function prefixOf(message: Uint8Array): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return prefix;
}

/** Counts calls that have ended, by the frames of a connection; one that ended without a message is an error. */
class AnswerCounter {
  #rest: Buffer = Buffer.alloc(0);
  #messages = 0;
  #ended = 0;
  #wanted = 0;
  #wake: (() => void) | undefined;
  #fail: ((error: Error) => void) | undefined;

  constructor(socket: Socket) {
    socket.on("data", (chunk: Buffer) => this.#take(chunk));
    socket.on("close", () => this.#fail?.(new Error("the server has closed the connection")));
  }

  until(count: number): Promise<void> {
    this.#wanted = count;
    return new Promise((resolve, reject) => {
      this.#wake = resolve;
      this.#fail = reject;
    });
  }

  #take(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    while (at + 9 <= bytes.length) {
      const end = at + 9 + bytes.readUIntBE(at, 3);
      if (end > bytes.length) break;
      const [type, flags = 0] = [bytes[at + 3], bytes[at + 4]];
      if (type === frameType.data) this.#messages++;
      if (type === frameType.headers && (flags & frameFlag.endStream) !== 0) this.#ended++;
      at = end;
    }
    this.#rest = bytes.subarray(at);
    if (this.#ended < this.#wanted) return;
    if (this.#messages === this.#ended) this.#wake?.();
    else this.#fail?.(new Error(`${this.#ended - this.#messages} calls failed`));
  }
}
