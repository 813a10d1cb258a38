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
  readonly #server = createServer({ allowHalfOpen: true }, (client) => this.#accept(client));
  readonly #sockets = new Set<Socket>();
  readonly #clients = new Set<Socket>();
  /** This many of the first connections let nothing through. */
  #swallowedCount = 0;
  /** This many of the first connections are reset when their client speaks. */
  #forgottenCount = 0;
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

  /** @param ownPort - Where it listens; 0: where it likes. */
  static async start(targetPort: number, host = "127.0.0.1", ownPort = 0): Promise<TcpProxy> {
    const proxy = new TcpProxy(targetPort);
    proxy.#server.listen(ownPort, host);
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

  /** Lets nothing through over the open connections, and tells nobody; new ones work. */
  swallow(): void {
    this.#swallowedCount = this.acceptedCount;
  }

  /** Forgets the open connections, as a host that has rebooted: it resets them when their client speaks. */
  forget(): void {
    this.#forgottenCount = this.acceptedCount;
  }

  /** Ends its half of the open connections, and reads on without an answer. */
  halfClose(): void {
    this.swallow();
    for (const client of this.#clients) client.end();
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
    const number = this.acceptedCount;
    const server = connect(this.targetPort, "127.0.0.1");
    this.#clients.add(client);
    client.on("close", () => this.#clients.delete(client));
    client.on("end", () => client.end());
    client.on("data", () => {
      if (number <= this.#forgottenCount) client.resetAndDestroy();
    });
    let last: Socket | undefined;
    for (const socket of [client, server]) {
      socket.on("data", () => {
        if (socket === client && last !== client) this.turnCount += 1;
        last = socket;
      });
    }
    const isHeard = (): boolean => number > this.#swallowedCount;
    this.#pass(client, server, () => isHeard() && this.mode !== "black-hole", this.greeting);
    this.#pass(server, client, () => isHeard() && this.mode === "open");
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
