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

/** The connections to one server: one that takes calls, and those whose last calls are still on their way. */
export class GrpcChannel {
  readonly #url: URL;
  readonly #tls: TlsOptions | undefined;
  readonly #sockets = new Set<ClientSocket>();
  #current: ClientSocket | undefined;
  #isClosed = false;

  /** Connects with the first call. */
  constructor(url: URL, tls: TlsOptions | undefined) {
    this.#url = url;
    this.#tls = tls;
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
