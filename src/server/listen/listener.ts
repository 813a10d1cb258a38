import { createServer, type ListenOptions, type Server, type Socket } from "node:net";
import { systemClock, systemTimers } from "../../clock/clock.ts";
import { type Address, socketPathOf } from "../../config/address.ts";
import type { Networks } from "../../config/networks.ts";
import { Admission } from "./admission.ts";
import { limitHandshake } from "./handshake-limit.ts";
import { networkOf } from "./network.ts";
import { OpenSockets } from "./open-sockets.ts";
import { removeStaleSocket } from "./stale-socket.ts";
import { takeProxyHeader } from "./take-proxy-header.ts";

/** The limits of a listener, and where its faults go. */
export interface ListenerOptions {
  /** Whether other sockets of this user may be bound to the same address. Default: no. */
  readonly reusePort?: boolean;
  /**
   * The most connections that are open, at least 1. From nine tenths of them on, each new one closes the longest idle
   * one of the network that has the most.
   */
  readonly connectionsMax: number;
  /** The most connections that are handed on in a second, at least 1. Half a second's worth may come at once. */
  readonly connectionsPerSecond: number;
  /** The mode of a Unix socket. Default: 0600. */
  readonly socketMode?: number;
  /** The proxies whose connections begin with a header of the PROXY protocol. Default: none. */
  readonly proxies?: Pick<Networks, "has"> | undefined;
  /** Called with an error of the listening socket itself: a fault of ours. */
  readonly onFault: (error: unknown) => void;
}

/** Counts of connections, by why they were closed. They only grow. */
interface RefusedConnections {
  /** The most connections allowed were already open. */
  full: number;
  /** Too many of one network waited for admission. */
  queue: number;
  /** They had been idle the longest when others needed room. */
  room: number;
}

/** A bound port. */
export interface Listener {
  /** Where it is bound; the port is the system's choice where 0 was asked for. */
  readonly address: Address;
  /** Connections that are open, those that wait included. */
  readonly connectionCount: () => number;
  /** Connections that were closed for the sake of others, since the start. */
  readonly refused: Readonly<RefusedConnections>;
  /**
   * Hands on each connection when its first bytes have arrived, `connectionsPerSecond` at most. Connections that came
   * before this call have waited. None waits longer than its first bytes may take.
   */
  readonly accept: (admit: (socket: Socket) => void) => void;
  /** Takes the connections that wait already, and no others. Resolves when none waits any more, or after a second. */
  readonly stop: () => Promise<void>;
  /**
   * Gives connections that are closing `graceMs` to do so, then cuts those that are left. Resolves when the port is
   * free.
   */
  readonly close: (graceMs: number) => Promise<void>;
}

/** How long connections that have already arrived are taken while the listener stops. */
const stopMs = 1_000;

/**
 * Binds a port. Hands on nothing before {@link Listener.accept}.
 *
 * @throws The system's error, with `code`: EADDRINUSE, EACCES, EADDRNOTAVAIL, ENOTFOUND.
 */
export async function bindListener(address: Address, options: ListenerOptions): Promise<Listener> {
  const refused: RefusedConnections = { full: 0, queue: 0, room: 0 };
  const onCrowd = (): void => void (refused.queue += 1);
  const sockets = new OpenSockets<Socket>(options.connectionsMax, systemClock, () => (refused.room += 1));
  /** Connections that came before {@link Listener.accept}, with their networks. */
  const held = new Map<Socket, string>();
  let admission: Admission<Socket> | undefined;
  let takenCount = 0;
  const tcp = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
    takenCount++;
    const network = networkOf(socket.remoteAddress ?? "");
    sockets.add(socket, network);
    // tcp.maxConnections is not used, because it refuses before another connection can make room: a crowd that came
    // within a second would keep all others out for as long as it stays.
    if (sockets.count > options.connectionsMax) {
      refused.full += 1;
      sockets.delete(socket, network);
      socket.destroy();
      return;
    }
    socket.on("error", () => socket.destroy());
    limitHandshake(socket);
    const take = (own: string): void => {
      socket.once("close", () => {
        sockets.delete(socket, own);
        held.delete(socket);
      });
      if (admission === undefined) held.set(socket, own);
      else queueUp(socket, own, admission, onCrowd);
    };
    if (options.proxies?.has(socket.remoteAddress ?? "") === true) takeFromProxy(socket, network, { sockets, take });
    else take(network);
  });
  await bind(tcp, address, options);
  tcp.on("error", (error) => {
    if (isOutOfFiles(error)) refused.full += 1;
    else options.onFault(error);
  });
  // Noted now: a callback of close() is never called if the server has closed before.
  const closed = new Promise<void>((resolve) => tcp.once("close", resolve));
  const bound = tcp.address();
  const port = typeof bound === "object" && bound !== null ? bound.port : address.port;
  return {
    address: { host: address.host, port },
    connectionCount: () => sockets.count,
    refused,
    accept: (to) => {
      // With half of them at most, a waiting crowd of one network leaves room for other networks.
      const { connectionsMax, connectionsPerSecond: perSecond } = options;
      const limits = { perSecond, queuedMax: Math.ceil(connectionsMax / 2) };
      admission = new Admission(limits, { ...systemClock, ...systemTimers }, to);
      for (const [socket, network] of held) queueUp(socket, network, admission, onCrowd);
      held.clear();
    },
    stop: async () => {
      await untilTaken(() => (admission?.isCrowded === true ? undefined : takenCount));
      tcp.close();
      // The requests that came with the last of them are read before the drain begins.
      await turn();
    },
    close: async (graceMs) => {
      tcp.close();
      const timer = setTimeout(() => sockets.closeAll(), graceMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

/**
 * Resolves when no connection waits any more, neither here nor in the system: closing resets those that the system
 * still holds for this process, which are many, if it was just paused.
 *
 * @param countTaken - The connections that were taken so far; undefined while some of them wait.
 */
async function untilTaken(countTaken: () => number | undefined): Promise<void> {
  const endMs = systemClock.monotonicMs() + stopMs;
  await turn();
  let before: number | undefined;
  for (let count = countTaken(); systemClock.monotonicMs() < endMs; count = countTaken()) {
    if (count !== undefined && count === before) return;
    before = count;
    await turn();
  }
}

/** Whether no descriptor was left, not even one to refuse a connection with: then the system has refused it. */
function isOutOfFiles({ code }: NodeJS.ErrnoException): boolean {
  return code === "EMFILE" || code === "ENFILE";
}

/** @throws The system's error. */
async function bind(tcp: Server, address: Address, options: ListenerOptions): Promise<void> {
  const path = socketPathOf(address);
  if (path === undefined) {
    await listen(tcp, { ...address, exclusive: true, reusePort: options.reusePort ?? false });
    return;
  }
  await removeStaleSocket(path);
  // The mask sets the mode, so that no other user can connect in between. The bind happens within the call.
  const mask = process.umask(0o777 & ~(options.socketMode ?? 0o600));
  try {
    const bound = listen(tcp, { path, exclusive: true });
    process.umask(mask);
    await bound;
  } finally {
    process.umask(mask);
  }
}

/** Resolves when the port is bound. @throws The system's error. */
function listen(tcp: Server, options: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    tcp.once("error", reject);
    tcp.listen(options, () => {
      tcp.off("error", reject);
      resolve();
    });
  });
}

/** Reads the address of the caller behind a proxy, and counts the connection for the caller's network. */
function takeFromProxy(
  socket: Socket,
  network: string,
  { sockets, take }: { readonly sockets: OpenSockets<Socket>; readonly take: (network: string) => void },
): void {
  const forget = (): void => sockets.delete(socket, network);
  socket.once("close", forget);
  takeProxyHeader(socket, (caller) => {
    socket.off("close", forget);
    if (caller === undefined) {
      take(network);
      return;
    }
    const own = networkOf(caller);
    sockets.delete(socket, network);
    sockets.add(socket, own);
    take(own);
  });
}

/** Requests admission for a connection when its first bytes have arrived. @param onCrowd - Called if it gets none. */
function queueUp(socket: Socket, network: string, admission: Admission<Socket>, onCrowd: () => void): void {
  socket.once("close", () => admission.withdraw(socket, network));
  // A socket that is read shows when its caller has gone, so one that only connects and leaves takes no turn.
  onFirstBytes(socket, () => {
    if (admission.request(socket, network)) return;
    onCrowd();
    socket.destroy();
  });
}

/** Calls `then` once, when there are bytes; they stay with the socket. */
function onFirstBytes(socket: Socket, then: () => void): void {
  const look = (): void => {
    if (socket.readableLength === 0) {
      // The event may be the end of the socket, which shows only when the socket is read.
      socket.read();
      return;
    }
    socket.off("readable", look);
    then();
  };
  socket.on("readable", look);
}

/** Resolves after the event loop has looked at every socket. */
function turn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
