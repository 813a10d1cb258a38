/** Callers by the names in their certificates: --tls-client-ca with --principals. */
import { readFileSync } from "node:fs";
import type { SecureContextOptions } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { certifiedCalls, identityOf as identity } from "../support/http2/certified-call.ts";
import { type Certificates, makeCertificates } from "../support/processes/certificates.ts";
import { bearer, principalsFile } from "../support/processes/principals-file.ts";
import { type RunningServer, runServer } from "../support/processes/running-server.ts";

let ours: Certificates;
let foreign: Certificates;

beforeAll(async () => {
  [ours, foreign] = await Promise.all([makeCertificates(), makeCertificates()]);
});
afterAll(() => {
  ours.remove();
  foreign.remove();
});

type Fields = Readonly<Record<string, string>>;

describe.each(Object.entries(certifiedCalls))("over %s", (_name, askOver) => {
  const ask = ({ server }: RunningServer, caller: SecureContextOptions, fields: Fields = {}) =>
    askOver({ port: server.address.port, ca: readFileSync(ours.caFile), ...caller }, fields);
  /** `client` is the name in the certificate of both authorities. */
  const start = (flags: Fields = {}) => {
    const { path: principals, write } = principalsFile([
      { name: "app", permissions: ["ids"], certificates: ["dns:Client"] },
      { name: "other", permissions: ["observe"], certificates: ["uri:spiffe://prod/other"] },
    ]);
    const tls = { tlsCert: ours.server.certFile, tlsKey: ours.server.keyFile, tlsClientCa: ours.caFile };
    return { write, running: runServer({ ...tls, principals, ...flags }) };
  };

  test("a caller is known by a name in its certificate, until the name is taken out of the file", async () => {
    const { running, write } = start();
    const server = await running;
    expect(await ask(server, identity(ours.client))).toBe(200);
    write([{ name: "app", permissions: ["observe"], certificates: ["dns:client"] }]);
    server.reload();
    expect(await ask(server, identity(ours.client))).toBe(403);
    write([{ name: "app", permissions: ["ids"], certificates: ["dns:client.prod", "uri:client", "dns:lient"] }]);
    server.reload();
    expect(await ask(server, identity(ours.client))).toBe(401);
    expect(server.faults).toEqual([]);
  });

  test("the common name of a certificate is not a name: only its SAN counts", async () => {
    const { running, write } = start();
    const server = await running;
    write([{ name: "app", permissions: ["ids"], certificates: ["dns:nameless", "uri:nameless", "uri:CN=nameless"] }]);
    server.reload();
    expect(await ask(server, identity(ours.nameless))).toBe(401);
  });

  test("a token that a request sends is all that counts, beside a good certificate too", async () => {
    const server = await start().running;
    expect(await ask(server, identity(ours.client), bearer("nobody"))).toBe(401);
    expect(await ask(server, identity(ours.client), bearer("other"))).toBe(403);
    expect(await ask(server, identity(ours.client), bearer("app"))).toBe(200);
  });

  test("a certificate is required unless the operator says otherwise", async () => {
    const server = await start().running;
    expect(await ask(server, {}, bearer("app"))).toBe("cut off");
    expect(await ask(server, identity(foreign.client))).toBe("cut off");
  });

  test("where it is optional, a caller without one needs a token, and one of another authority is cut off", async () => {
    const server = await start({ tlsClientAuth: "optional" }).running;
    expect(await ask(server, {})).toBe(401);
    expect(await ask(server, {}, bearer("app"))).toBe(200);
    expect(await ask(server, identity(ours.client))).toBe(200);
    // It has the same name, from an authority that the server was not given.
    expect(await ask(server, identity(foreign.client))).toBe("cut off");
    expect(await ask(server, identity(foreign.client), bearer("app"))).toBe("cut off");
    expect(server.faults).toEqual([]);
  });
});
