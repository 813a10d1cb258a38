import {
  create,
  type DescMessage,
  type DescMethod,
  type DescMethodStreaming,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { Code, ConnectError, type StreamResponse, type Transport, type UnaryResponse } from "@connectrpc/connect";
import { encodeFields } from "../../../../src/http2/hpack/encoder.ts";
import { withPrefix } from "../../../../src/service/hot/write-protobuf.ts";
import { version } from "../../../../src/version.ts";
import type { ChannelTarget } from "./channel-target.ts";
import { GrpcCall } from "./grpc-call.ts";
import { GrpcChannel } from "./grpc-channel.ts";
import { headersOf } from "./grpc-status.ts";
import { StreamChannels } from "./stream-channels.ts";
import type { TlsSource } from "./tls-options.ts";

/** Fields as Connect's transports take them. */
type HeaderFields = Parameters<Transport["unary"]>[3];

/** The limits of a call, and the fields that go out with it. */
interface CallOptions {
  /** Aborted to cancel the call; undefined: the call cannot be cancelled. */
  readonly signal: AbortSignal | undefined;
  /** In milliseconds from now; undefined if the call may take any time. */
  readonly timeoutMs: number | undefined;
  /** Fields of this call in addition to those of every call; undefined: there are none. */
  readonly header: HeaderFields;
}

/**
 * gRPC over HTTP/2 for calls with one message as their request. docs/adr/0115 says why it is our own.
 *
 * Messages are not compressed. A call that a server did not begin with is sent once more.
 */
export class GrpcTransport implements Transport {
  readonly #channel: GrpcChannel;
  readonly #streams: StreamChannels;
  readonly #endpoint: string;
  readonly #url: URL;
  /** The fields that are the same for all calls of a method, and those of its last call without any of its own. */
  readonly #heads = new Map<DescMethod, { readonly common: Buffer; timeoutMs: number | undefined; last: Buffer }>();

  /**
   * @param endpoint - `http://HOST:PORT` or `https://HOST:PORT`, with a path before that of the service if need be; or
   *   `unix:/PATH`.
   * @param tls - Certificates, or a function that returns them for each connection.
   */
  constructor(
    endpoint: string,
    tls?: TlsSource,
    { address, onReplaced }: Partial<Pick<ChannelTarget, "address" | "onReplaced">> = {},
    channel?: GrpcChannel,
  ) {
    const url = urlOf(endpoint);
    const target = { url, address, tls, onReplaced };
    this.#endpoint = endpoint;
    this.#url = url;
    this.#channel = channel ?? new GrpcChannel(target);
    this.#streams = new StreamChannels(() => new GrpcChannel(target));
  }

  /** Whether a call needs no new connection. */
  get isOpen(): boolean {
    return this.#channel.isOpen;
  }

  /** Opens a second way to the server, over a new connection; undefined if none may be opened now. */
  second(): { readonly transport: Transport; settle(outcome: "won" | "lost"): void } | undefined {
    const channel = this.#channel.second();
    if (channel === undefined) return undefined;
    return {
      transport: new GrpcTransport(this.#endpoint, undefined, undefined, channel),
      settle: (outcome) => (outcome === "won" ? this.#channel.adopt(channel) : channel.retire()),
    };
  }

  async unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
    header: HeaderFields,
    input: MessageInitShape<I>,
  ): Promise<UnaryResponse<I, O>> {
    const call = this.#call(method, input, { signal, timeoutMs, header }, 1, this.#channel);
    const message = await call.only();
    return {
      stream: false,
      service: method.parent,
      method,
      message,
      get header() {
        return headersOf(call.headFields);
      },
      get trailer() {
        return headersOf(call.trailers);
      },
    };
  }

  async stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodStreaming<I, O>,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
    header: HeaderFields,
    input: AsyncIterable<MessageInitShape<I>>,
  ): Promise<StreamResponse<I, O>> {
    if (method.methodKind !== "server_streaming")
      throw new ConnectError("This transport sends one message per call.", Code.Unimplemented);
    const { value } = await input[Symbol.asyncIterator]().next();
    const place = this.#streams.take();
    const call = this.#call(method, value, { signal, timeoutMs, header }, Infinity, place.channel);
    try {
      await call.begun();
    } catch (error) {
      place.leave();
      throw error;
    }
    return {
      stream: true,
      service: method.parent,
      method,
      message: messagesOf(call, () => place.leave()),
      get header() {
        return headersOf(call.headFields);
      },
      get trailer() {
        return headersOf(call.trailers);
      },
    };
  }

  /** Takes no more calls, and closes the connections after the last. */
  retire(): void {
    this.#channel.retire();
    this.#streams.retire();
  }

  /** Ends all calls and closes the connections. */
  close(): void {
    this.#channel.close();
    this.#streams.close();
  }

  #call<I extends DescMessage, O extends DescMessage>(
    method: DescMethod & { readonly input: I; readonly output: O },
    input: MessageInitShape<I>,
    { signal, timeoutMs, header }: CallOptions,
    messageCountMax: number,
    channel: GrpcChannel,
  ): GrpcCall<MessageShape<O>> {
    return new GrpcCall({
      head: this.#headOf(method, timeoutMs, header),
      body: withPrefix(0, toBinary(method.input, create(method.input, input))),
      parse: (bytes) => fromBinary(method.output, bytes),
      messageCountMax,
      timeoutMs,
      signal,
      send: (call) => channel.send(call),
      onLimit: (socket) => channel.noteLimit(socket),
    });
  }

  #headOf(method: DescMethod, timeoutMs: number | undefined, header: HeaderFields): Buffer {
    let heads = this.#heads.get(method);
    if (heads === undefined) {
      const common = encodeFields(this.#commonFields(method), "request");
      heads = { common, timeoutMs: undefined, last: common };
      this.#heads.set(method, heads);
    }
    if (header === undefined && timeoutMs === heads.timeoutMs) return heads.last;
    const timeout = timeoutMs === undefined ? [] : [["grpc-timeout", `${Math.ceil(timeoutMs)}m`] as const];
    const own = header === undefined ? [] : [...new Headers(header)];
    const head = Buffer.concat([heads.common, encodeFields([...timeout, ...own])]);
    if (header === undefined) {
      heads.timeoutMs = timeoutMs;
      heads.last = head;
    }
    return head;
  }

  #commonFields({ parent, name }: DescMethod): readonly (readonly [name: string, value: string])[] {
    const { protocol, host, pathname } = this.#url.protocol === "unix:" ? new URL("http://localhost") : this.#url;
    return [
      [":method", "POST"],
      [":scheme", protocol.slice(0, -1)],
      [":path", `${pathname.replace(/\/$/, "")}/${parent.typeName}/${name}`],
      [":authority", host],
      ["te", "trailers"],
      ["content-type", "application/grpc+proto"],
      ["user-agent", `snowlane-typescript/${version}`],
    ];
  }
}

/** The path of a socket without the characters that a URL would read as its own parts. */
function urlOf(endpoint: string): URL {
  if (!endpoint.startsWith("unix:")) return new URL(endpoint);
  return new URL(`unix:${encodeURI(endpoint.slice("unix:".length)).replace(/[?#]/g, encodeURIComponent)}`);
}

async function* messagesOf<Message>(
  call: GrpcCall<Message>,
  onEnd: () => void,
): AsyncGenerator<Message, void, undefined> {
  try {
    for (let message = await call.next(); message !== undefined; message = await call.next()) yield message;
  } finally {
    call.cancel();
    onEnd();
  }
}
