/** Callers by the names in their certificates: --tls-client-ca with --principals. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { request } from "node:https";
import type { SecureContextOptions } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CertificateFiles, type Certificates, makeCertificates } from "../support/processes/certificates.ts";
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
type Ask = (running: RunningServer, identity: SecureContextOptions, fields?: Fields) => Promise<number | "cut off">;

const path = "/snowlane.v1.IdService/NextId";
const json = { "content-type": "application/json" };
const identity = ({ certFile, keyFile }: CertificateFiles): SecureContextOptions => ({
  cert: readFileSync(certFile),
  key: readFileSync(keyFile),
});

const inHttp1: Ask = async ({ server }, { cert, key }, fields = {}) => {
  const call = request({
    port: server.address.port,
    host: "127.0.0.1",
    path,
    method: "POST",
    agent: false,
    ca: readFileSync(ours.caFile),
    cert,
    key,
    headers: { ...json, ...fields },
  });
  call.end("{}");
  try {
    const [response] = await once(call, "response");
    response.resume();
    return response.statusCode;
  } catch {
    return "cut off";
  }
};

const inHttp2: Ask = async ({ server }, { cert, key }, fields = {}) => {
  const ca = readFileSync(ours.caFile);
  const session = connectHttp2(`https://127.0.0.1:${server.address.port}`, { ca, cert, key });
  const isCut = once(session, "close").then(() => "cut off" as const);
  session.on("error", () => undefined);
  try {
    const stream = session.request({ ":path": path, ":method": "POST", ...json, ...fields });
    stream.on("error", () => undefined);
    stream.end("{}");
    const answered = once(stream, "response").then(([head]) => Number(head[":status"]));
    return await Promise.race([answered.catch(() => "cut off" as const), isCut.catch(() => "cut off" as const)]);
  } finally {
    session.destroy();
  }
};

describe.each([
  ["HTTP/1.1", inHttp1],
  ["HTTP/2", inHttp2],
])("over %s", (_name, ask) => {
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
    server.server.reload();
    expect(await ask(server, identity(ours.client))).toBe(403);
    write([{ name: "app", permissions: ["ids"], certificates: ["dns:client.prod", "uri:client", "dns:lient"] }]);
    server.server.reload();
    expect(await ask(server, identity(ours.client))).toBe(401);
    expect(server.faults).toEqual([]);
  });

  test("the common name of a certificate is no name: only its SAN counts", async () => {
    const { running, write } = start();
    const server = await running;
    write([{ name: "app", permissions: ["ids"], certificates: ["dns:nameless", "uri:nameless", "uri:CN=nameless"] }]);
    server.server.reload();
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
