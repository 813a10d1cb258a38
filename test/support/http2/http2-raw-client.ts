import { connect, type Socket } from "node:net";
import { frameFlag, frameType } from "../../../src/http2/frame.ts";
import { OutputReader, ping, type ReceivedFrame } from "./http2-wire.ts";

/** A client that sends whatever bytes it is given, to see what a server makes of them. */
export class RawClient {
  readonly #socket: Socket;
  readonly #reader = new OutputReader();
  #pending: Buffer = Buffer.alloc(0);
  #lines: string[] = [];
  #wake: (() => void) | undefined;
  #probeCount = 0;
  isClosed = false;
  /** Whether GOAWAY came. */
  isDismissed = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.#take(chunk));
    socket.on("drain", () => this.#wake?.());
    socket.on("error", () => undefined);
    socket.on("close", () => {
      this.isClosed = true;
      this.#wake?.();
    });
  }

  /** @param localAddress - Where it comes from: any address of loopback. */
  static async connect(port: number, localAddress = "127.0.0.1"): Promise<RawClient> {
    const socket = connect({ host: "127.0.0.1", port, localAddress });
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("error", reject);
    });
    return new RawClient(socket);
  }

  send(...parts: readonly Uint8Array[]): void {
    this.#socket.write(Buffer.concat(parts));
  }

  /**
   * Sends what `round` gives, again and again, until the server ends the connection or says that it will. Returns how
   * often.
   */
  async flood(round: (index: number) => Uint8Array): Promise<number> {
    let index = 0;
    while (!this.isClosed && !this.isDismissed) {
      if (!this.#socket.writableNeedDrain) this.#socket.write(round(index++));
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        if (!this.#socket.writableNeedDrain) setImmediate(resolve);
      });
    }
    return index;
  }

  /** Reads nothing from now on. */
  stopReading(): void {
    this.#socket.pause();
  }

  /** Sends bytes and a PING, and returns what came until its answer, or until the server closed the connection. */
  async exchange(...parts: readonly Uint8Array[]): Promise<readonly string[]> {
    const probe = `probe${String(this.#probeCount++).padStart(3, "0")}`;
    this.send(...parts, ping(probe));
    return this.until((lines) => lines.includes(`ping ack ${probe}`), probe);
  }

  /**
   * Waits until `isDone`, or until the server closed; returns and forgets the lines so far, without answers to probes.
   */
  async until(isDone: (lines: readonly string[]) => boolean, probe = ""): Promise<readonly string[]> {
    while (!isDone(this.#lines) && !this.isClosed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const lines = this.#lines.filter((line) => line !== `ping ack ${probe}`);
    this.#lines = [];
    return lines;
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#pending = Buffer.concat([this.#pending, chunk]);
    const frames: ReceivedFrame[] = [];
    while (this.#pending.length >= 9) {
      const end = 9 + this.#pending.readUIntBE(0, 3);
      if (this.#pending.length < end) break;
      const [type, flags] = [this.#pending[3]!, this.#pending[4]!];
      const streamId = this.#pending.readUInt32BE(5);
      frames.push({ type, flags, streamId, payload: this.#pending.subarray(9, end) });
      if (type === frameType.goAway) this.isDismissed = true;
      // A client answers pings, or the server takes it for gone.
      if (type === frameType.ping && (flags & frameFlag.ack) === 0) {
        this.send(ping(this.#pending.toString("latin1", 9, end), frameFlag.ack));
      }
      this.#pending = this.#pending.subarray(end);
    }
    this.#lines.push(...this.#reader.lines(frames));
    this.#wake?.();
  }
}
