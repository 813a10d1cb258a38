import { isIPv6 } from "node:net";

/** The network of an address: an IPv4 address alone, or the first 64 bits of IPv6, all of which one subscriber has. */
export function networkOf(remoteAddress: string): string {
  if (!remoteAddress.includes(":") || remoteAddress.includes(".")) return remoteAddress;
  const groups = remoteAddress.split("::", 1)[0]!.split(":");
  return [...groups, "0", "0", "0", "0"].slice(0, 4).join(":");
}

/**
 * The one spelling of an address that a proxy named: IPv6 as in RFC 5952, and IPv4 for an IPv4 address in the notation
 * of IPv6. Otherwise one caller would have several networks.
 */
export function canonicalAddress(address: string): string {
  if (!isIPv6(address) || address.includes("%")) return address;
  const text = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(text) ?? [];
  if (high === undefined || low === undefined) return text;
  const bits = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return bits.flatMap((group) => [group >> 8, group & 255]).join(".");
}
