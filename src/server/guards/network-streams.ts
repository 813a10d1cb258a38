import { IdError } from "../../errors.ts";
import type { GuardedCall } from "../call/call-guard.ts";
import type { Peer } from "../call/peer.ts";

/** Of Watch, whose clients need one for each service that they call. */
const watchesOfConnectionMax = 10;
/** How long a caller should wait: nobody knows when a stream ends. */
const retryMs = 1_000;

/**
 * Bounds the open streams of callers that have no quota of their own, because no credentials are asked of them: so many
 * of a network at one time, and ten of Health/Watch on a connection. Without it a few connections of one host could
 * hold any number of them. A call that a trusted proxy passes on has a peer of its own, so there the bound of the
 * network counts alone.
 */
export class NetworkStreams {
  readonly #max: number;
  readonly #ofNetwork = new Map<string, number>();
  readonly #watchesOf = new WeakMap<Peer, number>();

  /** @param max - The most of one network. */
  constructor(max: number) {
    this.#max = max;
  }

  /** @throws IdError QUOTA_EXCEEDED. */
  open({ peer, traits }: GuardedCall): void {
    const { network } = peer;
    const count = this.#ofNetwork.get(network) ?? 0;
    const watchCount = this.#watchesOf.get(peer) ?? 0;
    if (count >= this.#max) throw exceeded(this.#max, "its network", network);
    if (traits.access === "open") {
      if (watchCount >= watchesOfConnectionMax) throw exceeded(watchesOfConnectionMax, "its connection", network);
      this.#watchesOf.set(peer, watchCount + 1);
    }
    this.#ofNetwork.set(network, count + 1);
  }

  /** @param network - Of the peer when the stream was opened: a connection that is closed has none. */
  close({ peer, traits }: GuardedCall, network: string): void {
    const count = (this.#ofNetwork.get(network) ?? 1) - 1;
    if (count === 0) this.#ofNetwork.delete(network);
    else this.#ofNetwork.set(network, count);
    if (traits.access === "open") this.#watchesOf.set(peer, (this.#watchesOf.get(peer) ?? 1) - 1);
  }
}

function exceeded(max: number, whose: string, network: string): IdError {
  const message = `As many streams are open as a caller without credentials may have: ${max} of ${whose}.`;
  return new IdError("QUOTA_EXCEEDED", message, { metadata: { streams_max: max, network }, retryAfterMs: retryMs });
}
