import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * What becomes of bytes. `deaf`: questions arrive, answers are swallowed. `black-hole`: nothing arrives, and nobody is
 * told.
 */
export type ProxyMode = "open" | "deaf" | "black-hole";

/** A link to a server of this machine that can be slow, deaf, dead or cut. */
export class TcpProxy {
  /** Where new connections go. */
  targetPort: number;
  readonly #server = createServer((client) => this.#accept(client));
  readonly #sockets = new Set<Socket>();
  /** Connections that were taken so far. */
  acceptedCount = 0;
  /** How often a client spoke after its server had. */
  turnCount = 0;
  mode: ProxyMode = "open";
  /** Added to each piece of data, each way. */
  delayMs = 0;
  /** What becomes of the first bytes that a client sends. */
  greeting = (bytes: Buffer): Buffer => bytes;

  private constructor(targetPort: number) {
    this.targetPort = targetPort;
  }

  static async start(targetPort: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(targetPort);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Resets every connection; new ones are taken. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /** Lets all through again. The swallowed bytes are missing in the connections, which cannot go on. */
  reopen(): void {
    this.mode = "open";
    this.cut();
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }

  #accept(client: Socket): void {
    this.acceptedCount += 1;
    const server = connect(this.targetPort, "127.0.0.1");
    let last: Socket | undefined;
    for (const socket of [client, server]) {
      socket.on("data", () => {
        if (socket === client && last !== client) this.turnCount += 1;
        last = socket;
      });
    }
    this.#pass(client, server, () => this.mode !== "black-hole", this.greeting);
    this.#pass(server, client, () => this.mode === "open");
  }

  #pass(from: Socket, to: Socket, isOpen: () => boolean, greeting = (bytes: Buffer): Buffer => bytes): void {
    this.#sockets.add(from);
    let last: Promise<unknown> = Promise.resolve();
    let isFirst = true;
    from.on("data", (bytes: Buffer) => {
      const chunk = isFirst ? greeting(bytes) : bytes;
      isFirst = false;
      if (!isOpen()) return;
      const delay = sleep(this.delayMs);
      last = Promise.all([last, delay]).then(() => to.write(chunk));
    });
    from.on("error", () => to.destroy());
    from.on("close", () => {
      this.#sockets.delete(from);
      to.destroy();
    });
  }
}
