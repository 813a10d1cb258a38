import { expect, test } from "vitest";
import { canonicalName, readSubjectAltName } from "./certificate-names.ts";

test("names are compared in one spelling: DNS in lower-case letters, IP by value, the others as they are", () => {
  const spellings = {
    "dns:Checkout.Prod.SVC": "dns:checkout.prod.svc",
    "uri:spiffe://prod/Checkout": "uri:spiffe://prod/Checkout",
    "email:Ops@example.com": "email:Ops@example.com",
    "ip:10.0.0.1": "ip:10.0.0.1",
    "ip:2001:DB8:0:0:0:0:0:1": "ip:2001:db8::1",
  };
  for (const [text, name] of Object.entries(spellings)) expect(canonicalName(text)).toBe(name);
});

test("what is not a name is left out", () => {
  for (const text of [
    "",
    "checkout",
    "dns:",
    "DNS:a",
    "cn:checkout",
    "dns:a b",
    "dns:a,b",
    'dns:"a"',
    "uri:a\n",
    "ip:10.0.0",
    "ip:010.0.0.1",
    "ip:0x7f.1",
    "ip:::1%eth0",
    "ip:localhost",
    `dns:${"a".repeat(513)}`,
  ]) {
    expect([text, canonicalName(text)]).toEqual([text, undefined]);
  }
});

test("the names of a certificate are read from the text that Node writes", () => {
  const text =
    "DNS:a.example, URI:spiffe://prod/checkout, IP Address:2001:DB8:0:0:0:0:0:1, email:a@b.c, DirName:CN = x";
  expect(readSubjectAltName(text)).toEqual([
    "dns:a.example",
    "uri:spiffe://prod/checkout",
    "ip:2001:db8::1",
    "email:a@b.c",
  ]);
  expect(readSubjectAltName("")).toEqual([]);
});

test("one hostile name cannot pass for several (CVE-2021-44532)", () => {
  // https://nodejs.org/en/blog/vulnerability/jan-2022-security-releases: the value is quoted since then.
  expect(readSubjectAltName('DNS:"good.example, DNS:evil.example"')).toEqual([]);
  expect(readSubjectAltName('URI:"http://a\\", URI:spiffe://prod/checkout, DNS:\\"b", DNS:c')).toEqual(["dns:c"]);
  expect(readSubjectAltName('URI:"a\\u002c URI:spiffe://prod/checkout"')).toEqual([]);
  expect(readSubjectAltName('DNS:"a')).toEqual([]);
  expect(readSubjectAltName('DNS:good.example, DNS:a"b')).toEqual([]);
  expect(readSubjectAltName("__proto__:a, toString:b")).toEqual([]);
});
