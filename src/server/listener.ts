import { createServer, type Socket } from "node:net";
import { systemClock, systemTimers } from "../clock.ts";
import type { Address } from "../config/address.ts";
import { Admission } from "./admission.ts";

/** What a listener is made from. */
export interface ListenerOptions {
  readonly connectionsMax: number;
  readonly connectionsPerSecond: number;
  /** From one network; more keep its new connections waiting. */
  readonly violationsPerSecond: number;
  /** Called with what the listening socket itself reports: a fault of ours. */
  readonly onFault: (error: unknown) => void;
  /** Called when new connections from a network begin to wait for what those before them did; once in ten seconds. */
  readonly onHeldBack: (network: string) => void;
}

/** A bound port. */
export interface Listener {
  /** Where it is bound; the port is the system's choice where 0 was asked for. */
  readonly address: Address;
  /**
   * Hands on every connection once its first bytes are there, so many in a second. Those that came before have waited;
   * none waits longer than the first bytes of one may take.
   */
  readonly accept: (admit: (socket: Socket) => void) => void;
  /** Notes that a caller from this address broke a rule of its protocol. */
  readonly charge: (remoteAddress: string) => void;
  /** Takes the connections that wait already, and no more. Resolves when none waits any more, or after a second. */
  readonly stop: () => Promise<void>;
  /**
   * Lets connections that are on their way out go for `graceMs`, then cuts what is left. Resolves when the port is
   * free.
   */
  readonly close: (graceMs: number) => Promise<void>;
}

/** How long connections may go on coming in while the listener stops. */
const lastOnesMs = 1_000;
/** Between two calls of {@link ListenerOptions.onHeldBack}. */
const heldBackPauseMs = 10_000;
/** From connecting to the first bytes. Whoever is handed the connection sets its own limits. */
const handshakeTimeoutMs = 10_000;

/**
 * Binds a port. Hands on nothing before {@link Listener.accept}.
 *
 * @throws The system's error, with `code`: EADDRINUSE, EACCES, EADDRNOTAVAIL, ENOTFOUND.
 */
export async function bindListener(address: Address, options: ListenerOptions): Promise<Listener> {
  const sockets = new Set<Socket>();
  const held = new Set<Socket>();
  let admission: Admission<Socket> | undefined;
  let takenCount = 0;
  let heldBackMs = -Infinity;
  const tcp = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
    takenCount++;
    sockets.add(socket);
    socket.once("close", () => {
      sockets.delete(socket);
      held.delete(socket);
    });
    socket.on("error", () => socket.destroy());
    socket.setTimeout(handshakeTimeoutMs, () => socket.destroy());
    if (admission === undefined) held.add(socket);
    else queueUp(socket, admission);
  });
  tcp.maxConnections = options.connectionsMax;
  await new Promise<void>((resolve, reject) => {
    tcp.once("error", reject);
    tcp.listen({ ...address, exclusive: true }, () => {
      tcp.off("error", reject);
      resolve();
    });
  });
  tcp.on("error", options.onFault);
  // Noted now: a callback of close() is never called if the server has closed before.
  const closed = new Promise<void>((resolve) => tcp.once("close", resolve));
  const bound = tcp.address();
  const port = typeof bound === "object" && bound !== null ? bound.port : address.port;
  return {
    address: { host: address.host, port },
    accept: (to) => {
      // A crowd that waits leaves room for others.
      const { connectionsMax, connectionsPerSecond: perSecond, violationsPerSecond } = options;
      const limits = { perSecond, violationsPerSecond, lineMax: Math.ceil(connectionsMax / 2) };
      admission = new Admission(limits, { ...systemClock, ...systemTimers }, to);
      for (const socket of held) queueUp(socket, admission);
      held.clear();
    },
    charge: (remoteAddress) => {
      const network = networkOf(remoteAddress);
      const nowMs = systemClock.monotonicMs();
      if (admission?.charge(network) !== true || nowMs - heldBackMs < heldBackPauseMs) return;
      heldBackMs = nowMs;
      options.onHeldBack(network);
    },
    stop: async () => {
      // Closing resets what the system still holds for us: a crowd, where this process has just stood still.
      const endMs = systemClock.monotonicMs() + lastOnesMs;
      await turn();
      for (let before = -1; systemClock.monotonicMs() < endMs; await turn()) {
        if (before === takenCount && admission?.isCrowded !== true) break;
        before = takenCount;
      }
      tcp.close();
      // What was sent with the last of them is read, too, before anybody is told that it is too late.
      await turn();
    },
    close: async (graceMs) => {
      tcp.close();
      const timer = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, graceMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

/** Lets a connection ask to be let in. */
function queueUp(socket: Socket, admission: Admission<Socket>): void {
  const from = networkOf(socket.remoteAddress ?? "");
  socket.once("close", () => admission.leave(socket, from));
  // A socket that is read shows when its caller has gone: who only connects and leaves takes no place in the line.
  onFirstBytes(socket, () => {
    if (!admission.ask(socket, from)) socket.destroy();
  });
}

/** Calls `then` once, when there are bytes; they stay with the socket. */
function onFirstBytes(socket: Socket, then: () => void): void {
  const look = (): void => {
    if (socket.readableLength === 0) {
      // Its end, if anything: it shows when it is read.
      socket.read();
      return;
    }
    socket.off("readable", look);
    then();
  };
  socket.on("readable", look);
}

/** Whom a caller shares its line with: an IPv4 address, or the 64 bits of IPv6 that one subscriber has all of. */
function networkOf(remoteAddress: string): string {
  if (!remoteAddress.includes(":") || remoteAddress.includes(".")) return remoteAddress;
  const groups = remoteAddress.split("::", 1)[0]!.split(":");
  return [...groups, "0", "0", "0", "0"].slice(0, 4).join(":");
}

/** Resolves after the event loop has looked at every socket. */
function turn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
