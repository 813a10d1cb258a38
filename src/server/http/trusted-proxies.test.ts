import { expect, test } from "vitest";
import { Networks } from "../../config/networks.ts";
import { TrustedProxies } from "./trusted-proxies.ts";

const proxies = new TrustedProxies(new Networks(["10.0.0.0/8", "2001:db8::/32"]));

test.each([
  ["203.0.113.9", "203.0.113.9", "its proxy's word"],
  ["6.6.6.6, 203.0.113.9", "203.0.113.9", "what the caller itself sent is before it"],
  ["6.6.6.6, 203.0.113.9, 10.2.0.1,10.3.0.1", "203.0.113.9", "a chain of proxies"],
  ["10.2.0.1, 10.3.0.1", "10.2.0.1", "all are proxies: the first of them"],
  ["203.0.113.9, unknown", "10.0.0.1", "no address: the proxy itself"],
  ["203.0.113.9, unknown, 10.2.0.1", "10.2.0.1", "no address before a proxy"],
  ["", "10.0.0.1", "nothing"],
  [",", "10.0.0.1", "nothing twice"],
  ["203.0.113.9:4711", "203.0.113.9", "with a port"],
  ["[2001:DB9::0:1]:4711", "2001:db9::1", "IPv6 with a port, in one spelling"],
  ["2001:DB9:0:0::1", "2001:db9::1", "IPv6 without one"],
  ["::ffff:203.0.113.9", "203.0.113.9", "IPv4 in the notation of IPv6"],
  ["203.0.113.9:70000000", "10.0.0.1", "no port"],
  ["203.0.113.9 10.0.0.2", "10.0.0.1", "no comma"],
])("of %j the caller is %s: %s", (field, caller) => {
  expect(proxies.callerOf("10.0.0.1", field)).toBe(caller);
});
