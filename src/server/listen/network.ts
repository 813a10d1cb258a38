/** The network of an address: an IPv4 address alone, or the first 64 bits of IPv6, all of which one subscriber has. */
export function networkOf(remoteAddress: string): string {
  if (!remoteAddress.includes(":") || remoteAddress.includes(".")) return remoteAddress;
  const groups = remoteAddress.split("::", 1)[0]!.split(":");
  return [...groups, "0", "0", "0", "0"].slice(0, 4).join(":");
}
