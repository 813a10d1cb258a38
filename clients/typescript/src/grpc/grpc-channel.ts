import type { ChannelTarget } from "./channel-target.ts";
import { ClientSocket } from "./client-socket.ts";
import { streamsInitial } from "./http2-client.ts";
import type { ClientStream, Http2Request } from "./http2-request.ts";

/** A call, as its channel sees it. */
export interface ChannelCall extends Http2Request {
  /** Records over which connection the call was sent. */
  onSent(socket: ClientSocket, stream: ClientStream): void;
  /** Ends the call. */
  cancel(): void;
}

/**
 * A connection counts as dark after this much silence. The time doubles for each new connection in a row that answered
 * nothing.
 */
const silenceMs = 1_000;
const silenceMaxMs = 8_000;
/** The shortest time between two openings of a second connection. */
const secondPauseMs = 10_000;

/** The connections to one server: one that takes calls, and those whose last calls are still on their way. */
export class GrpcChannel {
  readonly #target: ChannelTarget;
  readonly #sockets: Set<ClientSocket>;
  #current: ClientSocket | undefined;
  #isClosed = false;
  /** New connections in a row that brought no answer. */
  #unansweredInRow = 0;
  /** When a second connection was last opened. */
  #secondAtMs = -Infinity;

  /**
   * Connects with the first call.
   *
   * @param sockets - Those that are closed with it.
   */
  constructor(target: ChannelTarget, sockets = new Set<ClientSocket>()) {
    this.#target = target;
    this.#sockets = sockets;
  }

  /** Whether a call needs no new connection. */
  get isOpen(): boolean {
    return this.#current?.takesRequests === true && this.#current.hasAnswered;
  }

  /** How many streams may be open at once. */
  get streamsMax(): number {
    return this.#current?.streamsMax ?? streamsInitial;
  }

  /**
   * Opens a channel to the same server for one call. It opens none while the present connection has answered no
   * request, and at most one in ten seconds: a server that starts or stalls must not be flooded with handshakes.
   */
  second(): GrpcChannel | undefined {
    const nowMs = performance.now();
    if (this.#current?.hasAnsweredRequest !== true || nowMs - this.#secondAtMs < secondPauseMs) return undefined;
    this.#secondAtMs = nowMs;
    return new GrpcChannel(this.#target, this.#sockets);
  }

  /** Puts the connection of a second channel in place of the present one. */
  adopt(second: GrpcChannel): void {
    this.#current?.retire();
    this.#current = second.#current;
  }

  /** Takes no more calls, and closes the connection after the last. */
  retire(): void {
    this.#current?.retire();
    this.#current = undefined;
  }

  /** Sends a call, over a new connection if the present one takes no more calls. */
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

  /**
   * Records that a call over a connection ran out of time. If the connection is dark, the next call takes another.
   *
   * @returns Whether the next call takes another, because this one was dark or has already been replaced.
   */
  noteLimit(socket: ClientSocket): boolean {
    if (socket !== this.#current) return socket.isRetired;
    if (socket.hasAnsweredRequest) this.#unansweredInRow = 0;
    if (!socket.isDark(Math.min(silenceMaxMs, silenceMs * 2 ** this.#unansweredInRow))) return false;
    this.#unansweredInRow++;
    this.retire();
    this.#target.onReplaced?.();
    return true;
  }

  /** Ends all calls, and takes no more. */
  close(): void {
    this.#isClosed = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  #open(): ClientSocket {
    const socket: ClientSocket = new ClientSocket(this.#target, () => this.#sockets.delete(socket));
    this.#sockets.add(socket);
    return socket;
  }
}
