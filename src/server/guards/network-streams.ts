import type { ConnectError } from "@connectrpc/connect";
import { streamsExceeded } from "../call/call-errors.ts";
import type { GuardedCall } from "../call/call-guard.ts";
import type { Peer } from "../call/peer.ts";

/** The most open streams of Health/Watch on a connection: clients need one for each service that they call. */
const watchesMax = 10;
/** The unit whose streams a bound counts. */
type Bound = "connection" | "network";

/**
 * Bounds the open streams of callers that have no quota of their own, because no credentials are asked of them: a
 * network may have `max` of them at one time, and a connection ten of Health/Watch. Without this, a few connections of
 * one host could hold any number of streams. A call that a trusted proxy passes on has its own peer, so only the bound
 * of the network applies to it.
 */
export class NetworkStreams {
  readonly #max: number;
  readonly #ofNetwork = new Map<string, number>();
  readonly #watchesOf = new WeakMap<Peer, number>();
  /** The last refusal: calls that are refused for the same cause share it, so that a flood of them costs less. */
  #last: { readonly bound: Bound; readonly network: string; readonly error: ConnectError } | undefined;

  /** @param max - The most open streams of one network. */
  constructor(max: number) {
    this.#max = max;
  }

  /** @throws ConnectError with the reason QUOTA_EXCEEDED. */
  open({ peer, traits }: GuardedCall): void {
    const { network } = peer;
    const count = this.#ofNetwork.get(network) ?? 0;
    const watchCount = this.#watchesOf.get(peer) ?? 0;
    if (count >= this.#max) throw this.#exceeded("network", network);
    if (traits.access === "open") {
      if (watchCount >= watchesMax) throw this.#exceeded("connection", network);
      this.#watchesOf.set(peer, watchCount + 1);
    }
    this.#ofNetwork.set(network, count + 1);
  }

  /** @param network - The network of the peer when the stream was opened: a closed connection has none. */
  close({ peer, traits }: GuardedCall, network: string): void {
    const count = (this.#ofNetwork.get(network) ?? 1) - 1;
    if (count === 0) this.#ofNetwork.delete(network);
    else this.#ofNetwork.set(network, count);
    if (traits.access === "open") this.#watchesOf.set(peer, (this.#watchesOf.get(peer) ?? 1) - 1);
  }

  #exceeded(bound: Bound, network: string): ConnectError {
    if (this.#last?.bound === bound && this.#last.network === network) return this.#last.error;
    const error = streamsExceeded(bound, bound === "network" ? this.#max : watchesMax, network);
    this.#last = { bound, network, error };
    return error;
  }
}
