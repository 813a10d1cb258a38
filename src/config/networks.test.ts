import { expect, test } from "vitest";
import { Networks, networks } from "./networks.ts";
import { SettingError } from "./setting.ts";

const setting = networks({ name: "trustedProxies", doc: "" });

test("addresses and networks of both kinds are read, each once", () => {
  expect(setting.parse("10.0.0.0/8, 192.0.2.7,::1,2001:db8::/32,::1")).toEqual([
    "10.0.0.0/8",
    "192.0.2.7",
    "::1",
    "2001:db8::/32",
  ]);
  expect(setting.format(["10.0.0.0/8", "::1"])).toBe("10.0.0.0/8,::1");
});

test.each([
  "",
  "10.0.0",
  "10.0.0.0/33",
  "10.0.0.0/0",
  "::/0",
  "::/129",
  "10.0.0.0/8,",
  "proxy.example",
  "10.0.0.1:80",
  "[::1]",
  "10.0.0.0/",
])("%j is not a network", (text) => {
  expect(() => setting.parse(text)).toThrow(SettingError);
});

test("an address is of a network whose first bits it has, also in the notation of IPv6", () => {
  const found = new Networks(["10.0.0.0/8", "192.0.2.7", "2001:db8::/32"]);
  const own = ["10.255.0.1", "::ffff:10.1.2.3", "192.0.2.7", "2001:db8:1::9"];
  const others = ["11.0.0.1", "::ffff:11.1.2.3", "192.0.2.8", "2001:db9::1", "", "unknown", "10.0.0.1:80"];
  expect(own.filter((address) => found.has(address))).toEqual(own);
  expect(others.filter((address) => found.has(address))).toEqual([]);
});
