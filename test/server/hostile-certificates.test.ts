/** Certificates that try to pass for another caller: real ones, signed by the authority that the server trusts. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { certifiedCalls, identityOf } from "../support/http2/certified-call.ts";
import { type Certificates, makeCertificates } from "../support/processes/certificates.ts";
import { principalsFile } from "../support/processes/principals-file.ts";
import { runServer } from "../support/processes/running-server.ts";
import { der, type RawName, rawSubjectAltName } from "../support/processes/subject-alt-name.ts";

let ours: Certificates;

beforeAll(async () => {
  ours = await makeCertificates();
});
afterAll(() => ours.remove());

const uri = "spiffe://prod/checkout";
const dns = "checkout.prod.svc";
const principals = () =>
  principalsFile([
    {
      name: "checkout",
      permissions: ["ids"],
      certificates: [`uri:${uri}`, `dns:${dns}`, "email:ops@prod.example", "ip:10.1.2.3", "ip:2001:db8::1"],
    },
  ]).path;
const clientAuth = "extendedKeyUsage=clientAuth\n";

/** The object identifiers of a user's name at Microsoft, and of an address of mail in UTF-8 (RFC 8398). */
const oids = { userName: "2b060104018237140203", mail: "2b06010505070809" };
const utf8 = (text: string): Buffer => der(0x0c, Buffer.from(text));
const otherName = (oid: string, value: Buffer): Buffer =>
  Buffer.concat([der(6, Buffer.from(oid, "hex")), der(0xa0, value)]);
/** The name of a directory with this common name. */
const directory = (text: string): Buffer =>
  der(0x30, der(0x31, der(0x30, Buffer.concat([der(6, Buffer.from("550403", "hex")), utf8(text)]))));

const inText = `x, URI:${uri}`;

/** Names of which none is a name of the principal, whatever they look like as a text. */
const hostile: Readonly<Record<string, readonly RawName[]>> = {
  "a comma in each kind of name": [
    ["dns", inText],
    ["dns", `x, DNS:${dns}`],
    ["uri", `http://x/, URI:${uri}`],
    ["email", `a@b.c, URI:${uri}`],
    ["dirName", directory(inText)],
    ["otherName", otherName(oids.userName, utf8(inText))],
    ["otherName", otherName(oids.mail, utf8(inText))],
    ["otherName", otherName("2a0304", utf8(inText))],
  ],
  "quotes that end too early": [
    ["uri", `x", URI:${uri}, DNS:"x`],
    ["dns", `x\\", URI:${uri}, DNS:\\"x`],
    ["uri", `"${uri}"`],
    ["otherName", otherName(oids.userName, utf8(`x", URI:${uri}, DNS:"x`))],
    ["email", `\\u002c URI:${uri}`],
  ],
  "a quote that never ends, and a name after it": [
    ["dns", '"'],
    ["dns", "x'"],
  ],
  "NUL, line breaks and blanks": [
    ["dns", `${dns}\0.evil.example`],
    ["uri", `${uri}\0`],
    ["uri", `\0${uri}`],
    ["uri", `x\nURI:${uri}`],
    ["uri", `x\r\n, URI:${uri}`],
    ["dns", ` ${dns}`],
    ["dns", `${dns} `],
    ["email", "ops@prod.example\0@evil.example"],
  ],
  "a name of one kind in another": [
    ["dns", uri],
    ["uri", dns],
    ["uri", `DNS:${dns}`],
    ["dns", `URI:${uri}`],
    ["email", uri],
    ["dns", "ops@prod.example"],
    ["dns", "10.1.2.3"],
    ["uri", "2001:db8::1"],
    ["otherName", otherName(oids.mail, utf8("ops@prod.example"))],
    ["otherName", otherName(oids.userName, utf8("ops@prod.example"))],
    ["dirName", directory(uri)],
    ["registeredId", Buffer.from("2a0304", "hex")],
  ],
  "names that are nearly it": [
    ["dns", "*.prod.svc"],
    ["dns", "*"],
    ["dns", `${dns}.`],
    ["dns", `.${dns}`],
    ["dns", `www.${dns}`],
    ["dns", `${dns}.evil.example`],
    ["uri", "spiffe://prod/*"],
    ["uri", "spiffe://prod/Checkout"],
    ["uri", `${uri}/`],
    ["uri", "spiffe://prod/x/../checkout"],
    ["uri", "spiffe://prod/check%6fut"],
    ["email", "OPS@prod.example"],
    ["ip", Buffer.from("00000000000000000000ffff0a010203", "hex")],
  ],
  "bytes that are not an address, and letters that look like others": [
    ["ip", Buffer.of(10, 1, 2)],
    ["ip", Buffer.of(10, 1, 2, 3, 255, 255, 255, 0)],
    ["ip", Buffer.alloc(0)],
    ["dns", "сheckout.prod.svc"],
    ["dns", Buffer.concat([Buffer.from(dns), Buffer.of(0xff)])],
    ["uri", Buffer.concat([Buffer.of(0x80), Buffer.from(uri)])],
  ],
  "no name in the SAN": [],
  "a thousand names": Array.from({ length: 1_000 }, (_, index) => ["uri", `spiffe://prod/${index}, URI:${uri}`]),
};

/** Beside names of every hostile kind, the authority has signed a true one. */
const honest: readonly RawName[] = [
  ["uri", `x", URI:spiffe://other, DNS:"x`],
  ["otherName", otherName(oids.userName, utf8(inText))],
  ["uri", uri],
];

describe.each(Object.entries(certifiedCalls))("over %s", (_name, ask) => {
  test("a name counts only whole, and only as the kind that it is, whatever is in it", async () => {
    const { certFile: tlsCert, keyFile: tlsKey } = ours.server;
    const running = await runServer({ tlsCert, tlsKey, tlsClientCa: ours.caFile, principals: principals() });
    const tls = { port: running.server.address.port, ca: readFileSync(ours.caFile) };
    for (const [what, names] of Object.entries(hostile)) {
      const certificate = await ours.sign("hostile", `${rawSubjectAltName(names)}${clientAuth}`);
      expect([what, await ask({ ...tls, ...identityOf(certificate) })]).toEqual([what, 401]);
    }
    const certificate = await ours.sign("honest", `${rawSubjectAltName(honest)}${clientAuth}`);
    expect(await ask({ ...tls, ...identityOf(certificate) })).toBe(200);
    expect(running.faults).toEqual([]);
    expect(running.server.source.status().counters.issued).toBe(1);
  });

  test.each(["required", "optional"])(
    "what does not verify is cut off with a true name too: %s",
    async (clientCert) => {
      const { certFile: tlsCert, keyFile: tlsKey } = ours.server;
      const flags = { tlsCert, tlsKey, tlsClientCa: ours.caFile, tlsClientAuth: clientCert, principals: principals() };
      const running = await runServer(flags);
      const foreign = await makeCertificates();
      try {
        const name = rawSubjectAltName([["uri", uri]]);
        const unverified = {
          "of another authority": await foreign.sign("foreign", `${name}${clientAuth}`),
          "that has ended": await ours.sign("ended", `${name}${clientAuth}`, -1),
          "that was made for servers": await ours.sign("wrong-use", `${name}extendedKeyUsage=serverAuth\n`),
          "that signed itself": await ours.sign("self", `${name}${clientAuth}`, 30, "self"),
          "of a caller that is not an authority": await ours.sign("child", `${name}${clientAuth}`, 30, "client"),
        };
        const tls = { port: running.server.address.port, ca: readFileSync(ours.caFile) };
        for (const [what, files] of Object.entries(unverified)) {
          const { cert, key } = identityOf(files);
          // The whole chain, so that nothing is missing but a right to be in it.
          const chain = Buffer.concat([cert as Buffer, readFileSync(ours.client.certFile), tls.ca]);
          expect([what, await ask({ ...tls, cert: chain, key })]).toEqual([what, "cut off"]);
        }
        const good = await ours.sign("good", `${name}${clientAuth}`);
        expect(await ask({ ...tls, ...identityOf(good) })).toBe(200);
        expect(running.faults).toEqual([]);
      } finally {
        foreign.remove();
      }
    },
  );
});
