import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Below the ports that systems give to outgoing connections (Linux from 32768, others from 49152): a server that is to
 * come back on its port finds it free. In that range any connection may have taken it meanwhile, even one that was
 * calling this very port.
 */
const ports = { lowest: 10_000, highest: 32_000 };
/**
 * The last one that was tried. Each process begins elsewhere and goes on from there, so that no two servers that are
 * being started are given one port.
 */
let lastPort = Math.floor(Math.random() * (ports.highest - ports.lowest + 1)) + ports.lowest;

/** A TCP port of 127.0.0.1 that nobody listens on now; for what cannot choose one by itself, or comes back to it. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    lastPort = lastPort < ports.highest ? lastPort + 1 : ports.lowest;
    const port = lastPort;
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => resolve(true));
    });
    if (!isFree) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}
