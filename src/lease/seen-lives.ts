import { joinIdentities, sameIdentity } from "../store/store-identity.ts";

/**
 * Which lives of the store this process saw one after the other.
 *
 * A change that it saw itself must be noted, whatever the incarnation record names: after a failover and back, or
 * between two servers that both take writes, that record can name the present life since long ago.
 * docs/adr/0103 has the decision.
 */
export class SeenLives {
  #identity: string | undefined;
  #changes = 0;
  #noted = 0;

  /** How often the store became another one under this process. */
  get changes(): number {
    return this.#changes;
  }

  /** Whether there was a change that has not been noted. */
  get hasUnnoted(): boolean {
    return this.#changes > this.#noted;
  }

  /** Looks at the identity of an answer. */
  see(identity: string): void {
    const before = this.#identity ?? identity;
    const isSame = sameIdentity(before, identity);
    if (!isSame) this.#changes += 1;
    this.#identity = isSame ? joinIdentities(before, identity) : identity;
  }

  /** The store went back, though it names itself as before: that is another life, too. */
  regressed(): void {
    this.#changes += 1;
  }

  /** @param changes - How many there had been when what was noted was decided; later ones are still owed. */
  noted(changes: number): void {
    this.#noted = Math.max(this.#noted, changes);
  }
}
