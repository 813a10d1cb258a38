import type { GrpcChannel } from "./grpc-channel.ts";

/**
 * The part of the streams that a server allows on a connection that is used: a stream may end later at the server than
 * here.
 */
const share = 0.9;

/** A channel, and how many streams of it are open. */
interface StreamChannel {
  readonly channel: GrpcChannel;
  openCount: number;
}

/** A place for one stream. */
export interface StreamPlace {
  readonly channel: GrpcChannel;
  /** The stream is over. Doing it again does nothing. */
  leave(): void;
}

/**
 * The connections of streams to one server. Calls use others, so that a paused reader holds up no call. The first one
 * stays, and others close when they are empty.
 */
export class StreamChannels {
  readonly #open: () => GrpcChannel;
  #channels: readonly StreamChannel[] = [];

  /** @param open - Makes a channel. */
  constructor(open: () => GrpcChannel) {
    this.#open = open;
  }

  /** Takes a place for a stream. */
  take(): StreamPlace {
    let used = this.#channels.find(({ channel, openCount }) => openCount < Math.floor(channel.streamsMax * share));
    if (used === undefined) {
      used = { channel: this.#open(), openCount: 0 };
      this.#channels = [...this.#channels, used];
    }
    const taken = used;
    taken.openCount++;
    let isOver = false;
    const leave = (): void => {
      if (isOver) return;
      isOver = true;
      taken.openCount--;
      if (taken.openCount > 0 || taken === this.#channels[0]) return;
      this.#channels = this.#channels.filter((other) => other !== taken);
      taken.channel.retire();
    };
    return { channel: taken.channel, leave };
  }

  /** Takes no more streams, and closes the connections after the last. */
  retire(): void {
    for (const { channel } of this.#channels) channel.retire();
    this.#channels = [];
  }

  /** Ends all streams, and takes no more. */
  close(): void {
    for (const { channel } of this.#channels) channel.close();
  }
}
