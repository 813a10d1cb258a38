import { ClientSocket } from "./client-socket.ts";
import type { ClientStream, Http2Request } from "./http2-request.ts";
import type { TlsOptions } from "./tls-options.ts";

/** A call, as its channel sees it. */
export interface ChannelCall extends Http2Request {
  /** Takes in over which connection the call has left. */
  onSent(socket: ClientSocket, stream: ClientStream): void;
  /** Ends the call. */
  cancel(): void;
}

/** A second connection is opened so seldom. */
const secondPauseMs = 10_000;

/** The connections to one server: one that takes calls, and those whose last calls are still on their way. */
export class GrpcChannel {
  readonly #url: URL;
  readonly #tls: TlsOptions | undefined;
  readonly #sockets: Set<ClientSocket>;
  #current: ClientSocket | undefined;
  #isClosed = false;
  /** When a second connection was last opened. */
  #secondAtMs = -Infinity;

  /**
   * Connects with the first call.
   *
   * @param sockets - Those that are closed with it.
   */
  constructor(url: URL, tls: TlsOptions | undefined, sockets = new Set<ClientSocket>()) {
    this.#url = url;
    this.#tls = tls;
    this.#sockets = sockets;
  }

  /** Whether a call needs no new connection. */
  get isOpen(): boolean {
    return this.#current?.takesRequests === true && this.#current.hasAnswered;
  }

  /**
   * Gives a channel of its own to the same server, which is for one call. None while the present connection has not
   * answered, and one in ten seconds: a server that starts or stalls is not to be flooded with handshakes.
   */
  second(): GrpcChannel | undefined {
    const nowMs = performance.now();
    if (this.#current?.hasAnswered !== true || nowMs - this.#secondAtMs < secondPauseMs) return undefined;
    this.#secondAtMs = nowMs;
    return new GrpcChannel(this.#url, this.#tls, this.#sockets);
  }

  /** Puts the connection of a second channel in the place of the present one. */
  adopt(second: GrpcChannel): void {
    this.#current?.retire();
    this.#current = second.#current;
  }

  /** Takes no more calls, and closes the connection after the last. */
  retire(): void {
    this.#current?.retire();
    this.#current = undefined;
  }

  /** Sends a call, over a new connection where the present one takes none. */
  send(call: ChannelCall): void {
    if (this.#isClosed) {
      call.cancel();
      return;
    }
    if (this.#current?.takesRequests !== true) {
      this.#current?.retire();
      this.#current = this.#open();
    }
    call.onSent(this.#current, this.#current.send(call));
  }

  /** Ends all calls, and takes no more. */
  close(): void {
    this.#isClosed = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  #open(): ClientSocket {
    const socket: ClientSocket = new ClientSocket(this.#url, this.#tls, () => this.#sockets.delete(socket));
    this.#sockets.add(socket);
    return socket;
  }
}
