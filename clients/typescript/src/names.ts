import type { LookUp } from "./client-options.ts";
import type { Clock } from "./clock.ts";
import { type Endpoint, type Endpoints, makeEndpoint } from "./endpoints.ts";

/** A name is looked up again after this time, */
const lookAgainMs = 30_000;
/** or after this time where one of its addresses is down. */
const lookSoonMs = 5_000;
/** The longest time that the first call waits for a name. */
const lookWaitMs = 500;
/**
 * An address counts as gone once this many lookups in a row did not return it: some name services answer with only a
 * part of their addresses.
 */
const missedLooksMax = 3;
/** The most addresses of a name that a client uses. */
const addressesMax = 64;

/** What the lookup of names needs. */
export interface NamesOptions {
  readonly lookUp: LookUp;
  readonly endpoints: Endpoints;
  readonly clock: Clock;
  /** From 0 to below 1. */
  readonly random: () => number;
  /** Called with each endpoint whose address is gone. */
  readonly onGone: (endpoint: Endpoint) => void;
}

/**
 * One host name among the endpoints. A name with several addresses counts as that many endpoints; a name with one
 * address or none is left to the system. Attempts 15 of docs/internals/client-contract.md has the rule.
 */
export class HostName {
  readonly #options: NamesOptions;
  readonly #url: string;
  readonly #host: string;
  /** Its addresses; or the name itself, which the system looks up. */
  #endpoints: readonly Endpoint[];
  /** How many lookups in a row did not return the address of an endpoint. */
  readonly #missedLooks = new Map<Endpoint, number>();
  #isLooking = false;
  #lookedAtMs = -Infinity;
  #isKnown = false;
  #firstLook: Promise<void> | undefined;

  constructor(endpoint: Endpoint, options: NamesOptions) {
    this.#options = options;
    this.#url = endpoint.url;
    this.#host = new URL(endpoint.url).hostname;
    this.#endpoints = [endpoint];
  }

  /**
   * Looks the name up, if that is due. Returns a promise that the first call waits for; undefined once the name is
   * known.
   */
  look(): Promise<void> | undefined {
    if (this.#isDue) {
      const looking = this.#lookUp();
      this.#firstLook ??= this.#waitFor(looking);
    }
    return this.#isKnown ? undefined : this.#firstLook;
  }

  get #isDue(): boolean {
    const { clock, endpoints } = this.#options;
    const everyMs = this.#endpoints.some((endpoint) => endpoints.isDown(endpoint)) ? lookSoonMs : lookAgainMs;
    return !this.#isLooking && clock.monotonicMs() - this.#lookedAtMs >= everyMs;
  }

  async #lookUp(): Promise<void> {
    const { lookUp, clock } = this.#options;
    this.#isLooking = true;
    this.#lookedAtMs = clock.monotonicMs();
    try {
      this.#take(await lookUp(this.#host));
    } catch {
      // The name has no address, or the lookup failed: the addresses that are known stay.
    } finally {
      this.#isLooking = false;
    }
  }

  async #waitFor(looking: Promise<void>): Promise<void> {
    const { clock } = this.#options;
    await new Promise<void>((resolve) => {
      const callOff = clock.schedule(lookWaitMs, resolve, "keeps process");
      void looking.then(() => {
        callOff();
        resolve();
      });
    });
    this.#isKnown = true;
  }

  /** Records which addresses a lookup has found. */
  #take(addresses: readonly string[]): void {
    const { endpoints, onGone } = this.#options;
    const isSingle = this.#endpoints[0]?.address === undefined;
    const isAnyFamily = !isSingle && this.#endpoints.every((endpoint) => endpoints.isDown(endpoint));
    const found = this.#shuffle(ofOneFamily(addresses, isAnyFamily));
    if (found.length < (isSingle ? 2 : 1)) return;
    const isGone = (endpoint: Endpoint): boolean => {
      if (endpoint.address === undefined) return true;
      const missed = found.includes(endpoint.address) ? 0 : (this.#missedLooks.get(endpoint) ?? 0) + 1;
      this.#missedLooks.set(endpoint, missed);
      return missed >= missedLooksMax && !endpoints.isInUse(endpoint);
    };
    const gone = this.#endpoints.filter(isGone);
    const stay = this.#endpoints.filter((endpoint) => !gone.includes(endpoint));
    const come = found
      .filter((address) => !stay.some((endpoint) => endpoint.address === address))
      .slice(0, Math.max(0, addressesMax - stay.length))
      .map((address) => makeEndpoint(this.#url, address));
    this.#endpoints = [...stay, ...come];
    endpoints.replace(gone, come);
    for (const endpoint of gone) {
      this.#missedLooks.delete(endpoint);
      onGone(endpoint);
    }
  }

  #shuffle(addresses: string[]): string[] {
    for (let last = addresses.length - 1; last > 0; last--) {
      const drawn = Math.floor(this.#options.random() * (last + 1));
      [addresses[last], addresses[drawn]] = [addresses[drawn] as string, addresses[last] as string];
    }
    return addresses;
  }
}

/** Whether an endpoint is called by a name, and not by an address or a path. */
export function hasHostName({ url }: Endpoint): boolean {
  const { hostname } = new URL(url);
  return hostname !== "" && !hostname.startsWith("[") && !/^\d+(?:\.\d+){3}$/.test(hostname);
}

/** Returns the addresses of the same family as the first, or all; each once. */
function ofOneFamily(addresses: readonly string[], isAnyFamily: boolean): string[] {
  const isV6 = addresses[0]?.includes(":");
  return [...new Set(addresses)].filter((address) => isAnyFamily || address.includes(":") === isV6);
}
