import type { Socket } from "node:net";
import type { Clock } from "../../clock/clock.ts";

/** How often the connections are checked for moved bytes. */
const lookMs = 1_000;
/** Beyond this share of the most connections allowed, each further one takes the place of another. */
const crowdedShare = 0.9;

/** The members of a socket that are used here. */
type OpenSocket = Pick<Socket, "bytesRead" | "bytesWritten"> & { readonly destroy: () => unknown };

/** How many bytes a connection had moved at the last look, and at which look it had last moved some. */
interface Traffic {
  bytes: number;
  movedMs: number;
}

/**
 * The open connections of each network. When nearly as many are open as are allowed, each further one closes a
 * connection of the network that has the most: the one that has been idle the longest. So no network can keep the
 * others out. For a connection of that network itself, only an idle one makes room. docs/adr/0112 has the reasons.
 */
export class OpenSockets<Opened extends OpenSocket> {
  readonly #crowdedCount: number;
  readonly #clock: Clock;
  readonly #onRoom: () => void;
  /** The connections of each network, longest idle first. */
  readonly #networks = new Map<string, Map<Opened, Traffic>>();
  #count = 0;
  #lookedMs = -Infinity;

  /** @param onRoom - Called for each connection that is closed to make room. */
  constructor(countMax: number, clock: Clock, onRoom: () => void = () => {}) {
    this.#onRoom = onRoom;
    this.#crowdedCount = countMax * crowdedShare;
    this.#clock = clock;
  }

  /** Connections that are open. */
  get count(): number {
    return this.#count;
  }

  add(socket: Opened, network: string): void {
    const nowMs = this.#clock.monotonicMs();
    // From half of the share on, because it takes some looks until the order is right.
    if (this.#count > this.#crowdedCount / 2 && nowMs - this.#lookedMs >= lookMs) this.#look(nowMs);
    const own = this.#networks.get(network) ?? new Map<Opened, Traffic>();
    this.#networks.set(network, own.set(socket, { bytes: 0, movedMs: nowMs }));
    this.#count++;
    if (this.#count > this.#crowdedCount) this.#makeRoom(own.size, nowMs);
  }

  delete(socket: Opened, network: string): void {
    const own = this.#networks.get(network);
    if (own?.delete(socket) !== true) return;
    this.#count--;
    if (own.size === 0) this.#networks.delete(network);
  }

  closeAll(): void {
    for (const own of this.#networks.values()) for (const socket of own.keys()) socket.destroy();
  }

  /** Moves those that have moved bytes since the last look behind the others. */
  #look(nowMs: number): void {
    this.#lookedMs = nowMs;
    for (const own of this.#networks.values()) {
      for (const [socket, traffic] of own) {
        const bytes = socket.bytesRead + socket.bytesWritten;
        if (bytes === traffic.bytes) continue;
        own.delete(socket);
        own.set(socket, { bytes, movedMs: nowMs });
      }
    }
  }

  #makeRoom(ownCount: number, nowMs: number): void {
    const [network, most] = [...this.#networks].reduce((a, b) => (b[1].size > a[1].size ? b : a));
    const [socket, { movedMs }] = most.entries().next().value!;
    if (most.size === ownCount && nowMs - movedMs < lookMs) return;
    // Now, because its close event comes later and it must not be chosen again.
    this.delete(socket, network);
    this.#onRoom();
    socket.destroy();
  }
}
