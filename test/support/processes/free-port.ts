import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Below the ports that systems give to outgoing connections (Linux from 32768, others from 49152): a server that is to
 * come back on its port finds it free. In that range any connection may have taken it meanwhile, even one that was
 * calling this very port.
 */
const ports = { lowest: 10_000, highest: 32_000 };
/** The last one that was tried. Each process begins elsewhere and goes on from there. */
let lastPort = Math.floor(Math.random() * (ports.highest - ports.lowest + 1)) + ports.lowest;

/**
 * A TCP port of 127.0.0.1 that nobody listens on now; for what cannot choose one by itself, or comes back to it. No
 * other test gets it while this process lives, also while nobody listens there.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    lastPort = lastPort < ports.highest ? lastPort + 1 : ports.lowest;
    const port = lastPort;
    if (!(await claim(port))) continue;
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

/** Claims a port among the tests of this machine, by the UDP port of its number, which needs no clearing away. */
function claim(port: number): Promise<boolean> {
  const socket = createSocket("udp4").unref();
  return new Promise((resolve) => {
    socket.once("error", () => {
      socket.close();
      resolve(false);
    });
    socket.bind({ port, address: "127.0.0.1", exclusive: true }, () => resolve(true));
  });
}
