import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";
import { frameFlag, frameType, preface } from "../../../src/http2/frame.ts";
import { HpackDecoder } from "../../../src/http2/hpack/decoder.ts";
import { data, type FieldPairs, frame, headers, type ReceivedFrame, settings, settingsAck } from "./http2-wire.ts";

/** A request as it came in. */
export interface RawRequest {
  readonly streamId: number;
  readonly fields: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly connection: RawConnection;
}

/** What a test may leave out of a server. */
export interface RawServerOptions {
  readonly tls?: TlsOptions;
  /** The server's first bytes. Default: empty SETTINGS. */
  readonly greeting?: Buffer;
  /** Whether PINGs are answered. Default: yes. */
  readonly pings?: "answered" | "ignored";
}

/** A gRPC response's head, without what a test lays over it. */
export const responseFields: FieldPairs = [
  [":status", "200"],
  ["content-type", "application/grpc+proto"],
];

/** An answer of NextId. */
export function nextIdAnswer(streamId: number, id: bigint): Buffer {
  const message = Buffer.from([0, 0, 0, 0, 9, 0x09, 0, 0, 0, 0, 0, 0, 0, 0]);
  message.writeBigUInt64LE(id, 6);
  return Buffer.concat([
    headers(streamId, "body", responseFields),
    data(streamId, message),
    headers(streamId, "end", [["grpc-status", "0"]]),
  ]);
}

/** One connection of a {@link RawHttp2Server}. */
export class RawConnection {
  readonly socket: Socket;
  /** From 0. */
  readonly number: number;
  /** Frames that came, without the first SETTINGS. */
  readonly frames: ReceivedFrame[] = [];
  readonly #options: RawServerOptions;
  readonly #onRequest: (request: RawRequest) => void;
  readonly #decoder = new HpackDecoder(1e6, 1e6);
  readonly #fields = new Map<number, Readonly<Record<string, string>>>();
  readonly #bodies = new Map<number, Buffer>();
  #pending = Buffer.alloc(0);
  #hasPreface = false;

  constructor(socket: Socket, number: number, options: RawServerOptions, onRequest: (request: RawRequest) => void) {
    this.socket = socket;
    this.number = number;
    this.#options = options;
    this.#onRequest = onRequest;
    socket.setNoDelay(true);
    socket.write(options.greeting ?? settings());
    socket.on("data", (chunk: Buffer) => this.#receive(chunk));
    socket.on("error", () => undefined);
  }

  send(...parts: readonly Buffer[]): void {
    if (this.socket.writable) this.socket.write(Buffer.concat(parts));
  }

  /** The payloads of the frames of one type, as hex. */
  received(type: number): readonly string[] {
    return this.frames.filter((frame) => frame.type === type).map(({ payload }) => payload.toString("hex"));
  }

  #receive(chunk: Buffer): void {
    this.#pending = Buffer.concat([this.#pending, chunk]);
    if (!this.#hasPreface) {
      if (this.#pending.length < preface.length) return;
      this.#hasPreface = this.#pending.subarray(0, preface.length).equals(preface);
      if (!this.#hasPreface) throw new Error("A client began with something other than the preface.");
      this.#pending = this.#pending.subarray(preface.length);
    }
    for (;;) {
      const bytes = this.#pending;
      if (bytes.length < 9) return;
      const end = 9 + bytes.readUIntBE(0, 3);
      if (bytes.length < end) return;
      this.#pending = bytes.subarray(end);
      const payload = bytes.subarray(9, end);
      this.#take({ type: bytes[3]!, flags: bytes[4]!, streamId: bytes.readUInt32BE(5), payload });
    }
  }

  #take(received: ReceivedFrame): void {
    const { type, flags, streamId, payload } = received;
    this.frames.push(received);
    const isAck = (flags & frameFlag.ack) !== 0;
    if (type === frameType.settings && !isAck) this.send(settingsAck);
    if (type === frameType.ping && !isAck && this.#options.pings !== "ignored")
      this.send(frame(frameType.ping, frameFlag.ack, 0, payload));
    if (type === frameType.headers) {
      const fields = this.#decoder.decode(payload, 0, payload.length);
      this.#fields.set(streamId, Object.fromEntries(fields.map(({ name, value }) => [name, value])));
    }
    if (type === frameType.data) {
      this.#bodies.set(streamId, Buffer.concat([this.#bodies.get(streamId) ?? Buffer.alloc(0), payload]));
    }
    if ((type !== frameType.headers && type !== frameType.data) || (flags & frameFlag.endStream) === 0) return;
    const fields = this.#fields.get(streamId) ?? {};
    this.#onRequest({ streamId, fields, body: this.#bodies.get(streamId) ?? Buffer.alloc(0), connection: this });
  }
}

/** A server that sends whatever bytes it is given, to see what a client makes of them. */
export class RawHttp2Server {
  readonly connections: RawConnection[] = [];
  readonly requests: RawRequest[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** @param onRequest - Called for each request when it is whole. */
  static async start(
    onRequest: (request: RawRequest) => void,
    options: RawServerOptions = {},
  ): Promise<RawHttp2Server> {
    const accept = (socket: Socket): void => {
      const connection = new RawConnection(socket, server.connections.length, options, (request) => {
        server.requests.push(request);
        onRequest(request);
      });
      server.connections.push(connection);
    };
    const server: RawHttp2Server = new RawHttp2Server(
      options.tls === undefined ? createServer(accept) : createTlsServer({ ...options.tls }, accept),
    );
    server.#server.on("tlsClientError", () => undefined);
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server, "listening");
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Cuts every connection and stops listening. */
  async stop(): Promise<void> {
    for (const { socket } of this.connections) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }
}
