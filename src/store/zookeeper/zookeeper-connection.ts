/**
 * One connection to a ZooKeeper server with its own session: the six operations that the record store needs.
 *
 * Requests are answered in the order in which they were sent. When the connection ends, for any reason, every waiting
 * request fails, and the connection cannot be used any more; no request is ever sent again. docs/adr/0060 explains why
 * we wrote our own client.
 */
import { connect as connectTcp, type Socket } from "node:net";
import { type ConnectionOptions, connect as connectTls } from "node:tls";
import { systemTimers } from "../../clock/clock.ts";
import { JuteReader, JuteWriter } from "./jute.ts";

/** An answer of a server. */
export interface ZooKeeperReply {
  /** The last transaction that the server had seen: the epoch in the upper half, the counter in the lower. */
  readonly zxid: bigint;
  /** 0 or a code of {@link errorCodes}; otherwise the request is refused. */
  readonly code: number;
  readonly body: JuteReader;
}

/** The parts of a znode that are used here. */
export interface ZnodeData {
  readonly text: string;
  readonly version: number;
}

/** Codes that a caller may want to distinguish. Source: KeeperException.Code of ZooKeeper. */
export const errorCodes = { noNode: -101, noAuth: -102, badVersion: -103, nodeExists: -110, authFailed: -115 } as const;

/** The meaning of a code, for people. Source: as above. */
const errorTexts: Readonly<Record<number, string>> = {
  [-1]: "it reports an error of its own",
  [-2]: "its state contradicts itself",
  [-4]: "it lost the connection to its leader",
  [-6]: "it does not know this kind of request",
  [-7]: "it did not carry the request out in time",
  [-8]: "it reports the request as malformed",
  [errorCodes.noNode]: "there is no such znode",
  [errorCodes.noAuth]: "this user may not do that: the znode's ACL does not allow it",
  [errorCodes.badVersion]: "the znode has another version",
  [errorCodes.nodeExists]: "the znode is there already",
  [-112]: "its session is over",
  [-114]: "its ACL is invalid",
  [errorCodes.authFailed]: "it rejects user and password",
  [-119]: "it is read-only: it has no quorum",
  [-125]: "its quota is used up",
};

/** A refusal by the server, or a request that failed there. */
export class ZooKeeperError extends Error {
  override readonly name = "ZooKeeperError";
  readonly code: number;

  constructor(code: number) {
    super(errorTexts[code] ?? `it answers with error ${code}`);
    this.code = code;
  }
}

interface Waiting {
  readonly xid: number;
  readonly resolve: (reply: ZooKeeperReply) => void;
  readonly reject: (error: Error) => void;
}

const operations = {
  create: 1,
  exists: 3,
  getData: 4,
  setData: 5,
  getChildren: 8,
  sync: 9,
  ping: 11,
  auth: 100,
} as const;
const pingXid = -2;
const authXid = -4;
const allPermissions = 31;

/**
 * Requested from the server, which may choose another value: a session says nothing about a worker, so it only has to
 * outlast a pause between pings.
 */
const sessionTimeoutMs = 10_000;

/** Far above the largest answer: 65,536 names of records. */
const frameBytesMax = 16 * 1_024 * 1_024;

/** The server, and how to connect to it. */
export interface ZooKeeperAddress {
  readonly host: string;
  readonly port: number;
  readonly tls: ConnectionOptions | undefined;
  /** `user:password` of the digest scheme. If it is given, created znodes belong to that user alone. */
  readonly digest: string | undefined;
}

export class ZooKeeperConnection {
  readonly #socket: Socket;
  readonly #digest: string | undefined;
  readonly #waiting: Waiting[] = [];
  #received: Buffer = Buffer.alloc(0);
  #handshake: { readonly resolve: () => void; readonly reject: (error: Error) => void } | undefined;
  #lastXid = 0;
  #onEnd = (): void => {};
  #cancelPing = (): void => {};
  #ended: Error | undefined;

  /** Begins to connect; {@link open} completes it. The connection must be destroyed in the end. */
  constructor({ host, port, tls, digest }: ZooKeeperAddress) {
    const socket = tls === undefined ? connectTcp({ host, port }) : connectTls({ ...tls, host, port });
    socket.setNoDelay(true);
    this.#socket = socket;
    this.#digest = digest;
    socket.on("data", (chunk) => this.#receive(chunk));
    socket.on("error", (error) => this.#end(error));
    socket.on("close", () => this.#end(new Error("the connection was closed")));
  }

  /** Opens a session and authenticates. To be called once. */
  async open(): Promise<void> {
    await this.#openSession();
    if (this.#digest !== undefined) await this.#authenticate(this.#digest);
  }

  /** Calls `listener` when the connection ends, or at once if it has ended. */
  onEnd(listener: () => void): void {
    this.#onEnd = listener;
    if (this.#ended !== undefined) listener();
  }

  /** Ends the connection at once. Its session expires by itself. */
  destroy(): void {
    this.#end(new Error("the connection was given up"));
  }

  /** Brings the server up to date with the leader: reads that follow are as new as this moment. */
  async sync(path: string): Promise<bigint> {
    return (await this.#request(operations.sync, (writer) => writer.text(path))).zxid;
  }

  /**
   * The transaction that created the znode, and its time: they distinguish successive znodes of one path. undefined if
   * there is none.
   */
  async birthOf(path: string): Promise<string | undefined> {
    const write = (writer: JuteWriter): JuteWriter => writer.text(path).boolean(false);
    const { code, body } = await this.#request(operations.exists, write, errorCodes.noNode);
    if (code === errorCodes.noNode) return undefined;
    const createdZxid = body.long();
    // Between the two is the transaction of the last change, which is skipped.
    body.long();
    return `${createdZxid.toString(16)}@${body.long()}`;
  }

  /** Reads a znode; undefined if there is none. */
  async getData(path: string): Promise<ZnodeData | undefined> {
    const write = (writer: JuteWriter): JuteWriter => writer.text(path).boolean(false);
    const { code, body } = await this.#request(operations.getData, write, errorCodes.noNode);
    if (code === errorCodes.noNode) return undefined;
    const text = body.text();
    // Skips four fields of the Stat: the transactions of the creation and the last change, and their times.
    for (let field = 0; field < 4; field += 1) body.long();
    return { text, version: body.int() };
  }

  async getChildren(path: string): Promise<readonly string[]> {
    const { body } = await this.#request(operations.getChildren, (writer) => writer.text(path).boolean(false));
    return body.texts();
  }

  /** Creates a persistent znode. The reply's code is 0, nodeExists or noNode (there is no parent). */
  create(path: string, text: string): Promise<ZooKeeperReply> {
    const [scheme, id] = this.#digest !== undefined ? ["auth", ""] : ["world", "anyone"];
    const write = (writer: JuteWriter): JuteWriter =>
      writer.text(path).text(text).int(1).int(allPermissions).text(scheme).text(id).int(0);
    return this.#request(operations.create, write, errorCodes.nodeExists, errorCodes.noNode);
  }

  /** Changes a znode that still has `version`. The reply's code is 0, badVersion or noNode. */
  setData(path: string, text: string, version: number): Promise<ZooKeeperReply> {
    const write = (writer: JuteWriter): JuteWriter => writer.text(path).text(text).int(version);
    return this.#request(operations.setData, write, errorCodes.badVersion, errorCodes.noNode);
  }

  async #openSession(): Promise<void> {
    const opened = new Promise<void>((resolve, reject) => {
      this.#handshake = { resolve, reject };
    });
    // Protocol version, last transaction seen, time-out, session ID, password, read-only.
    const request = new JuteWriter()
      .int(0)
      .long(0n)
      .int(sessionTimeoutMs)
      .long(0n)
      .bytes(Buffer.alloc(16))
      .boolean(false);
    this.#socket.write(request.frame());
    await opened;
  }

  async #authenticate(digest: string): Promise<void> {
    const packet = new JuteWriter().int(authXid).int(operations.auth).int(0).text("digest").text(digest);
    await this.#send(authXid, packet, []);
  }

  async #request(
    operation: number,
    write: (writer: JuteWriter) => JuteWriter,
    ...accepted: readonly number[]
  ): Promise<ZooKeeperReply> {
    this.#lastXid = (this.#lastXid % 0x7f_ff_ff_ff) + 1;
    return this.#send(this.#lastXid, write(new JuteWriter().int(this.#lastXid).int(operation)), accepted);
  }

  async #send(xid: number, request: JuteWriter, accepted: readonly number[]): Promise<ZooKeeperReply> {
    if (this.#ended !== undefined) throw this.#ended;
    const reply = await new Promise<ZooKeeperReply>((resolve, reject) => {
      this.#waiting.push({ xid, resolve, reject });
      this.#socket.write(request.frame());
    });
    if (reply.code !== 0 && !accepted.includes(reply.code)) throw new ZooKeeperError(reply.code);
    return reply;
  }

  #receive(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    try {
      while (this.#received.length >= 4) {
        const length = this.#received.readInt32BE(0);
        if (length < 0 || length > frameBytesMax) throw new Error("it does not speak ZooKeeper's protocol");
        if (this.#received.length < 4 + length) return;
        const frame = this.#received.subarray(4, 4 + length);
        this.#received = this.#received.subarray(4 + length);
        this.#take(new JuteReader(frame));
      }
    } catch (error) {
      this.#end(error as Error);
    }
  }

  #take(frame: JuteReader): void {
    if (this.#handshake !== undefined) {
      this.#takeSession(frame);
      return;
    }
    const xid = frame.int();
    const reply: ZooKeeperReply = { zxid: frame.long(), code: frame.int(), body: frame };
    if (xid === pingXid) return;
    const waiting = this.#waiting.shift();
    if (waiting?.xid !== xid) throw new Error(`it answered request ${xid} out of turn`);
    waiting.resolve(reply);
  }

  #takeSession(frame: JuteReader): void {
    const { resolve } = this.#handshake!;
    frame.int();
    const timeoutMs = frame.int();
    if (timeoutMs <= 0) throw new Error("it opened no session");
    this.#handshake = undefined;
    this.#ping(Math.floor(timeoutMs / 3));
    resolve();
  }

  #ping(periodMs: number): void {
    this.#cancelPing = systemTimers.after(periodMs, () => {
      this.#socket.write(new JuteWriter().int(pingXid).int(operations.ping).frame());
      this.#ping(periodMs);
    });
  }

  #end(error: Error): void {
    if (this.#ended !== undefined) return;
    this.#ended = error;
    this.#cancelPing();
    this.#socket.destroy();
    this.#handshake?.reject(error);
    for (const { reject } of this.#waiting.splice(0)) reject(error);
    this.#onEnd();
  }
}
