import { isIP } from "node:net";
import { canonicalAddress } from "../listen/network.ts";

/** Tells some addresses from others. */
interface AddressSet {
  readonly has: (address: string) => boolean;
}

/**
 * Believes `x-forwarded-for` of some proxies. Each proxy of a chain adds the address that called it at the end, and the
 * addresses before that may be the caller's own words: so the caller is the last address that is no such proxy's.
 * `forwarded` (RFC 7239) is not read: all usual balancers write the older field, and two fields could name two callers.
 */
export class TrustedProxies {
  readonly #networks: AddressSet;

  /** @param networks - Of the proxies. */
  constructor(networks: AddressSet) {
    this.#networks = networks;
  }

  /** Whether an address is a proxy's. */
  has(address: string): boolean {
    return this.#networks.has(address);
  }

  /**
   * The address of the caller of a request.
   *
   * @param address - The other end of the connection: a proxy.
   * @param forwardedFor - All values of the field, joined by commas.
   */
  callerOf(address: string, forwardedFor: string): string {
    let caller = address;
    for (const part of forwardedFor.split(",").toReversed()) {
      const next = addressOf(part.trim());
      // What a proxy did not write as an address says nothing of who called it.
      if (next === undefined) break;
      caller = next;
      if (!this.has(caller)) break;
    }
    return caller;
  }
}

/** An address, which some proxies write with its port. */
function addressOf(text: string): string | undefined {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(text) ?? [];
  const address = bracketed ?? plain ?? text;
  return isIP(address) === 0 ? undefined : canonicalAddress(address);
}
