import { expect, test } from "vitest";
import { canonicalAddress } from "./network.ts";
import { readProxyHeader } from "./proxy-header.ts";

const signature = [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10];
const rest = Buffer.from("GET / HTTP/1.1\r\n");

/** A header of version 2. */
function binary(command: number, family: number, addresses: readonly number[], announced = addresses.length): Buffer {
  return Buffer.from([...signature, command, family, announced >> 8, announced & 255, ...addresses]);
}

const ports = [18, 103, 1, 187];
const over4 = [203, 0, 113, 9, 10, 0, 0, 1, ...ports];
const over6 = [0x20, 1, 0xd, 0xb8, ...Array(11).fill(0), 7, 0x20, 1, 0xd, 0xb8, ...Array(11).fill(0), 1, ...ports];

test.each<[string, Buffer, string | undefined]>([
  ["version 1, TCP4", Buffer.from("PROXY TCP4 203.0.113.9 10.0.0.1 56324 443\r\n"), "203.0.113.9"],
  ["version 1, TCP6", Buffer.from("PROXY TCP6 2001:db8::7 2001:db8::1 56324 443\r\n"), "2001:db8::7"],
  ["version 1, unknown", Buffer.from("PROXY UNKNOWN\r\n"), undefined],
  ["version 1, unknown with more", Buffer.from("PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n"), undefined],
  ["version 2, TCP over IPv4", binary(0x21, 0x11, over4), "203.0.113.9"],
  ["version 2, TCP over IPv4 with further fields", binary(0x21, 0x11, [...over4, 4, 0, 1, 9]), "203.0.113.9"],
  ["version 2, TCP over IPv6", binary(0x21, 0x21, over6), "2001:db8::7"],
  ["version 2, the proxy itself", binary(0x20, 0, []), undefined],
  ["version 2, the proxy itself with addresses", binary(0x20, 0x11, over4), undefined],
  ["version 2, no family", binary(0x21, 0, []), undefined],
  ["version 2, a Unix socket", binary(0x21, 0x31, Array(216).fill(0)), undefined],
])("%s: the header and nothing behind it is read, in whatever pieces it comes", (_, header, address) => {
  const bytes = Buffer.concat([header, rest]);
  for (let end = 0; end < header.length; end++) {
    expect(readProxyHeader(bytes.subarray(0, end)), `${end} bytes`).toEqual({ kind: "incomplete" });
  }
  for (let end = header.length; end <= bytes.length; end++) {
    const read = readProxyHeader(bytes.subarray(0, end));
    expect(read).toMatchObject({ kind: "read", byteCount: header.length });
    const named = read.kind === "read" ? read.address : undefined;
    expect(named === undefined ? undefined : canonicalAddress(named)).toBe(address);
  }
});

test.each<[string, Buffer]>([
  ["a request", rest],
  ["HTTP/2", Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")],
  ["TLS", Buffer.from([22, 3, 1, 2, 0])],
  ["lower-case letters", Buffer.from("proxy TCP4 1.2.3.4 1.2.3.4 1 2\r\n")],
  ["a family of another kind", Buffer.from("PROXY TCP5 1.2.3.4 1.2.3.4 1 2\r\n")],
  ["an address of the other family", Buffer.from("PROXY TCP4 ::1 ::2 1 2\r\n")],
  ["no address", Buffer.from("PROXY TCP4 here there 1 2\r\n")],
  ["a port too many", Buffer.from("PROXY TCP4 1.2.3.4 1.2.3.4 1 2 3\r\n")],
  ["a port too large", Buffer.from("PROXY TCP4 1.2.3.4 1.2.3.4 1 65536\r\n")],
  ["no port", Buffer.from("PROXY TCP4 1.2.3.4 1.2.3.4\r\n")],
  ["a line of 108 bytes", Buffer.from(`PROXY UNKNOWN ${"x".repeat(92)}\r\n`)],
  ["a line without end", Buffer.from(`PROXY TCP4 ${"1".repeat(200)}`)],
  ["version 3", binary(0x31, 0x11, over4)],
  ["a command of another kind", binary(0x22, 0x11, over4)],
  ["fewer addresses than the family has", binary(0x21, 0x21, over4)],
  ["65,535 bytes of addresses", binary(0x21, 0x11, over4, 65_535)],
])("%s is not a header", (_, bytes) => {
  expect(readProxyHeader(bytes)).toEqual({ kind: "malformed" });
});

test.each([
  ["2001:DB8:0:0:0:0:0:7", "2001:db8::7"],
  ["0:0:0:0:0:ffff:cb00:7109", "203.0.113.9"],
  ["203.0.113.9", "203.0.113.9"],
  ["fe80::1%eth0", "fe80::1%eth0"],
])("the one spelling of %s is %s", (address, canonical) => {
  expect(canonicalAddress(address)).toBe(canonical);
});
