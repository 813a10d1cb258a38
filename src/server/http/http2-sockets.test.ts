import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { expect, test, vi } from "vitest";
import {
  headers,
  hello,
  okBlock,
  ping,
  refuseCut,
  settings,
  windowUpdate,
} from "../../../test/support/http2/http2-wire.ts";
import { systemClock } from "../../clock/clock.ts";
import { createLimits } from "../../http2/limits.ts";
import { Http2Sockets } from "./http2-sockets.ts";

/** A socket that has received bytes and takes none. */
class DeafSocket extends Duplex {
  readonly remoteAddress = "127.0.0.1";

  constructor(received: Buffer) {
    super({ allowHalfOpen: true });
    this.push(received);
  }

  setNoDelay(): this {
    return this;
  }

  override _read(): void {}

  override _write(): void {}
}

test.each(["open", "half-closed"])("a client that takes nothing is cut off: %s", async (half) => {
  const host = {
    onRequest: () => ({
      onEnd: (stream: { respond: (block: Buffer, then: "body") => void; write: (bytes: Buffer) => boolean }) => {
        stream.respond(okBlock, "body");
        stream.write(Buffer.alloc(8_000_000));
      },
    }),
    onCutRequest: refuseCut,
    onFault: (error: unknown): never => {
      throw error;
    },
  };
  const limits = createLimits({ stallTimeoutMs: 500, stallGraceMs: 500, drainTimeoutMs: 500 });
  const sockets = new Http2Sockets(host, limits, systemClock);
  const wide = [settings([4, 2 ** 31 - 1]), windowUpdate(0, 2 ** 31 - 70_000)];
  // More than is read at once, so that some of it waits when the answers fill the socket.
  const socket = new DeafSocket(
    Buffer.concat([hello, ...wide, headers(1, "end"), ...Array.from({ length: 3_000 }, () => ping())]),
  );
  sockets.accept(socket as unknown as Socket);
  if (half === "half-closed") socket.push(null);
  await vi.waitFor(() => expect(sockets.connectionCount).toBe(0), 20_000);
  await sockets.drain();
  sockets.close();
});
