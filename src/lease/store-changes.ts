import { joinIdentities, sameIdentity } from "../store/store-identity.ts";

/**
 * The changes of the store that this process saw: each time the store became another one while the process used it.
 *
 * The process reports in the incarnation record each change that it saw itself, even if the record already names the
 * present store: after a failover and back, or with two servers that both take writes, it may have named that store for
 * a long time. docs/adr/0103 has the decision.
 */
export class StoreChanges {
  #identity: string | undefined;
  #changes = 0;
  #reported = 0;

  /** How often the store became another one while this process used it. */
  get changes(): number {
    return this.#changes;
  }

  /** Whether there was a change that has not been reported. */
  get hasUnreported(): boolean {
    return this.#changes > this.#reported;
  }

  /** Looks at the identity of an answer. */
  see(identity: string): void {
    const before = this.#identity ?? identity;
    const isSame = sameIdentity(before, identity);
    if (!isSame) this.#changes += 1;
    this.#identity = isSame ? joinIdentities(before, identity) : identity;
  }

  /** Counts a store that went back as a change, even though it names itself as before. */
  regressed(): void {
    this.#changes += 1;
  }

  /** @param changes - The number of changes when the report was written; later ones are not in it. */
  reported(changes: number): void {
    this.#reported = Math.max(this.#reported, changes);
  }
}
