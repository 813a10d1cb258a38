import { isIP } from "node:net";
import { canonicalAddress } from "../listen/network.ts";

/** A set of addresses. */
interface AddressSet {
  readonly has: (address: string) => boolean;
}

/**
 * Believes `x-forwarded-for` of some proxies. Each proxy of a chain adds the address that called it at the end, and the
 * addresses before that may be the caller's own words: so the caller is the last address that does not belong to such a
 * proxy. `forwarded` (RFC 7239) is not read: all usual balancers write the older field, and two fields could name two
 * callers.
 */
export class TrustedProxies {
  readonly #networks: AddressSet;

  /** @param networks - The networks of the proxies. */
  constructor(networks: AddressSet) {
    this.#networks = networks;
  }

  /** Whether an address belongs to a trusted proxy. */
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
      // A value that is not an address says nothing about the caller of the proxy.
      if (next === undefined) break;
      caller = next;
      if (!this.has(caller)) break;
    }
    return caller;
  }
}

/** Reads an address, to which some proxies append the port. */
function addressOf(text: string): string | undefined {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(text) ?? [];
  const address = bracketed ?? plain ?? text;
  return isIP(address) === 0 ? undefined : canonicalAddress(address);
}
