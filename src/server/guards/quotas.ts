import type { Allowance } from "../../queue/allowance.ts";
import type { CallGuard, GuardedCall } from "../call/call-guard.ts";
import { NetworkStreams } from "./network-streams.ts";

/**
 * Holds principals to their quotas of calls and of streams, and to that of IDs where a call hands out one. Other calls
 * take from it when they draw IDs: src/service/hot/issue-ids.ts. Streams of callers without a principal count for their
 * network. Comes after authentication, which finds the principal. docs/adr/0136 has the reasons.
 */
export class Quotas implements CallGuard {
  readonly #networks: NetworkStreams;
  /** The streams that are open, each with what it counts for. */
  readonly #streams = new WeakMap<GuardedCall, Allowance | string>();

  /** @param streamsPerNetworkMax - The most open streams of one network's callers without a principal. */
  constructor(streamsPerNetworkMax: number) {
    this.#networks = new NetworkStreams(streamsPerNetworkMax);
  }

  /** @throws IdError QUOTA_EXCEEDED. */
  begin(call: GuardedCall): void {
    const allowance = call.notes.principal?.allowance;
    const { handsOutOne, streams } = call.traits;
    if (allowance !== undefined) {
      allowance.takeCall();
      if (handsOutOne) allowance.takeId();
      if (!streams) return;
      allowance.openStream();
      this.#streams.set(call, allowance);
    } else if (streams) {
      this.#networks.open(call);
      this.#streams.set(call, call.peer.network);
    }
  }

  end(call: GuardedCall, error: Error | undefined): void {
    const { handsOutOne, streams } = call.traits;
    if (handsOutOne && error === undefined) call.notes.principal?.allowance.noteIds(1);
    if (!streams) return;
    const counted = this.#streams.get(call);
    if (counted === undefined) return;
    if (typeof counted === "string") this.#networks.close(call, counted);
    else counted.closeStream();
    this.#streams.delete(call);
  }
}
