/** TLS on the server's port, over both kinds of HTTP/2: who may come in, and what they can agree on. */
import { once } from "node:events";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { request } from "node:https";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createTlsAcceptor, readTlsContext } from "../../src/server/listen/tls.ts";
import { type CertificateFiles, type Certificates, makeCertificates } from "../support/processes/certificates.ts";
import { Neighbour } from "../support/http2/neighbour.ts";
import { bearer, principalsFile, tokenOf } from "../support/processes/principals-file.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { type RunningServer, runServer, temporaryFolder } from "../support/processes/running-server.ts";

let certificates: Certificates;
let foreign: Certificates;
let ca: Buffer;

beforeAll(async () => {
  [certificates, foreign] = await Promise.all([makeCertificates(), makeCertificates()]);
  ca = readFileSync(certificates.caFile);
});
afterAll(() => {
  certificates.remove();
  foreign.remove();
});

const identity = ({ certFile, keyFile }: CertificateFiles) => ({
  cert: readFileSync(certFile),
  key: readFileSync(keyFile),
});

function tlsFlags(): Readonly<Record<string, string>> {
  return { tlsCert: certificates.server.certFile, tlsKey: certificates.server.keyFile };
}

/** Shakes hands, and waits until the server has said something after it or closed. */
async function shake({ server }: RunningServer, options: ConnectionOptions): Promise<TLSSocket> {
  const socket = connect({ port: server.address.port, host: "127.0.0.1", ca, ...options });
  onTestFinished(() => void socket.destroy());
  await once(socket, "secureConnect");
  return socket;
}

/** The code of the error that a connection ends with, before or after its handshake. */
async function refusal({ server }: RunningServer, options: ConnectionOptions): Promise<string> {
  const socket = connect({ port: server.address.port, host: "127.0.0.1", ca, ALPNProtocols: ["h2"], ...options });
  onTestFinished(() => void socket.destroy());
  // With TLS 1.3 the client is done before the server has looked at its certificate.
  socket.resume();
  const error = new Promise<string>((resolve) =>
    socket.once("error", ({ code }: NodeJS.ErrnoException) => resolve(code ?? "")),
  );
  return Promise.race([error, once(socket, "close").then(() => "closed")]);
}

/** An ID over HTTP/1.1. */
async function askHttp1({ server }: RunningServer, options: ConnectionOptions = {}): Promise<number> {
  const call = request({
    port: server.address.port,
    host: "127.0.0.1",
    path: "/snowlane.v1.IdService/NextId",
    method: "POST",
    agent: false,
    ca,
    headers: { "content-type": "application/json" },
    ...options,
  });
  call.end("{}");
  const [response] = await once(call, "response");
  response.resume();
  await once(response, "end");
  return response.statusCode as number;
}

/** IDs over HTTP/2, and what went wrong. */
async function askHttp2({ server }: RunningServer, options: ConnectionOptions = {}): Promise<readonly string[]> {
  const neighbour = new Neighbour(`https://127.0.0.1:${server.address.port}`, { ca, ...options });
  await neighbour.served(50);
  await neighbour.stop();
  return neighbour.report().failures;
}

describe.each(["node", "engine"])("--http2 %s", (http2) => {
  test("a caller who asks for h2 gets HTTP/2, one who asks for http/1.1 gets that", async () => {
    const running = await runServer({ http2, ...tlsFlags() });
    for (const [offered, agreed] of [
      [["h2"], "h2"],
      [["http/1.1"], "http/1.1"],
      [["http/1.1", "h2"], "h2"],
      [[], false],
    ] as const) {
      const socket = await shake(running, { ALPNProtocols: [...offered] });
      expect([offered, socket.alpnProtocol]).toEqual([offered, agreed]);
    }
    expect(await askHttp2(running)).toEqual([]);
    expect(await askHttp1(running, { ALPNProtocols: ["http/1.1"] })).toBe(200);
    expect(await refusal(running, { ALPNProtocols: ["spdy/3"] })).toBe("ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL");
    expect(running.faults).toEqual([]);
  });

  test("a caller who offers nothing is served by what it says first", async () => {
    const running = await runServer({ http2, ...tlsFlags() });
    expect(await askHttp1(running)).toBe(200);
    const socket = await shake(running, { ALPNProtocols: [] });
    // node:http2 insists on ALPN, as RFC 9113 section 3.2 does of clients.
    if (http2 === "node") return;
    const session = connectHttp2(running.url, { createConnection: () => socket });
    onTestFinished(() => session.destroy());
    await once(session, "remoteSettings");
  });

  test("TLS 1.2 needs authenticated encryption and forward secrecy, and what is older is refused", async () => {
    const running = await runServer({ http2, ...tlsFlags() });
    const newest = await shake(running, {});
    expect(newest.getProtocol()).toBe("TLSv1.3");
    const only12 = { maxVersion: "TLSv1.2", minVersion: "TLSv1.2" } as const;
    for (const cipher of ["ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"]) {
      const socket = await shake(running, { ...only12, ciphers: cipher });
      expect([socket.getProtocol(), socket.getCipher().name]).toEqual(["TLSv1.2", cipher]);
    }
    for (const cipher of ["ECDHE-ECDSA-AES128-SHA256", "ECDHE-ECDSA-AES256-SHA", "AES128-GCM-SHA256"]) {
      expect(await refusal(running, { ...only12, ciphers: cipher })).toMatch(/HANDSHAKE_FAILURE$/);
    }
    const old = { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" } as const;
    expect(await refusal(running, old)).toBe("ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION");
    expect(await askHttp2(running, only12)).toEqual([]);
  });

  test("a caller cannot renegotiate", async () => {
    const running = await runServer({ http2, ...tlsFlags() });
    const socket = await shake(running, { maxVersion: "TLSv1.2" });
    const error = await new Promise((resolve) => {
      socket.on("error", resolve);
      socket.renegotiate({}, resolve);
      socket.resume();
    });
    expect(error).toMatchObject({ code: "ERR_SSL_NO_RENEGOTIATION" });
  });

  test("with an authority for callers, only those whom it vouches for come in", async () => {
    const running = await runServer({ http2, ...tlsFlags(), tlsClientCa: certificates.caFile });
    const known = identity(certificates.client);
    expect(await askHttp2(running, known)).toEqual([]);
    expect(await askHttp1(running, known)).toBe(200);
    for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const) {
      expect(await refusal(running, { maxVersion })).toMatch(
        /CERTIFICATE_REQUIRED|HANDSHAKE_FAILURE|ECONNRESET|closed/,
      );
      const stranger = identity(foreign.client);
      expect(await refusal(running, { ...stranger, maxVersion })).toMatch(/UNKNOWN_CA|ECONNRESET|closed/);
    }
    expect(await askHttp2(running, known)).toEqual([]);
    expect(running.faults).toEqual([]);
  });

  test("cleartext on a port of TLS is cut off, and the server goes on", async () => {
    const running = await runServer({ http2, ...tlsFlags() });
    const plain = new Neighbour(running.url);
    await plain.served(1);
    await plain.stop();
    expect(plain.report().calls).toBe(0);
    expect(await askHttp2(running)).toEqual([]);
  });
});

test("a TLS file that cannot be used is refused with its flag and its path, in one line that says what to give", () => {
  const folder = temporaryFolder();
  const junk = join(folder, "junk.pem");
  writeFileSync(junk, "no PEM");
  const { certFile: certPath, keyFile: keyPath } = certificates.server;
  const good = { certPath, keyPath, clientCaPath: certificates.caFile };
  readTlsContext(good);
  const absent = join(folder, "absent.pem");
  const wrong = [
    [{ certPath: absent }, `--tls-cert ${absent} cannot be read: ENOENT`],
    [{ keyPath: absent }, `--tls-key ${absent} cannot be read: ENOENT`],
    [{ clientCaPath: absent }, `--tls-client-ca ${absent} cannot be read: ENOENT`],
    [{ certPath: folder }, `--tls-cert ${folder} cannot be read: EISDIR`],
    [{ certPath: junk }, `--tls-cert ${junk} cannot be used: `],
    [{ certPath: keyPath }, `--tls-cert ${keyPath} cannot be used: `],
    [{ keyPath: junk }, `--tls-key ${junk} cannot be used: `],
    [{ keyPath: certPath }, `--tls-key ${certPath} cannot be used: `],
    [{ clientCaPath: junk }, `--tls-client-ca ${junk} cannot be used: `],
    [
      { keyPath: foreign.server.keyFile },
      `--tls-key ${foreign.server.keyFile} does not belong to the certificate of --tls-cert ${certPath}`,
    ],
  ] as const;
  for (const [files, message] of wrong) {
    const error = { reason: "INVALID_CONFIG", message: expect.stringMatching(/^[^\n]*\. Give [^\n]*\.$/) };
    expect(() => readTlsContext({ ...good, ...files }), message).toThrow(expect.objectContaining(error));
    expect(() => readTlsContext({ ...good, ...files })).toThrow(message);
  }
});

test("a refused handshake is logged at debug, with the caller's address and the cause", async () => {
  const running = await runServer({ ...tlsFlags(), tlsClientCa: certificates.caFile });
  expect(await refusal(running, { ALPNProtocols: ["spdy/3"] })).toBe("ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL");
  await refusal(running, {});
  const lines = (): unknown[] =>
    running.log.map((line) => JSON.parse(line)).filter(({ message }) => message === "A TLS handshake was refused");
  await expect.poll(lines).toHaveLength(2);
  const line = { level: "debug", address: "127.0.0.1" };
  expect(lines()).toMatchObject([
    { ...line, code: "ERR_SSL_NO_APPLICATION_PROTOCOL" },
    { ...line, code: "ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE" },
  ]);
});

test("a certificate that is replaced on disk is read again, one that does not fit is not", async () => {
  const folder = temporaryFolder();
  const [certPath, keyPath] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  const put = ({ certFile, keyFile }: CertificateFiles): void => {
    copyFileSync(certFile, certPath);
    copyFileSync(keyFile, keyPath);
  };
  put(certificates.server);
  const faults: unknown[] = [];
  const onSecure = (socket: TLSSocket): void => void socket.on("error", () => undefined).end();
  const onFault = (error: unknown): void => void faults.push(error);
  const acceptor = createTlsAcceptor({ certPath, keyPath, clientCaPath: undefined }, { onSecure, onFault }, 20);
  const server = createServer({ pauseOnConnect: true }, acceptor.admit);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    acceptor.close();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const shown = async (): Promise<string> => {
    const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false });
    await once(socket, "secureConnect");
    const { fingerprint256 } = socket.getPeerCertificate();
    socket.destroy();
    return fingerprint256;
  };
  const first = await shown();
  writeFileSync(keyPath, readFileSync(foreign.server.keyFile));
  await expect.poll(() => faults.length).toBeGreaterThan(0);
  expect(String(faults[0])).toContain(
    `--tls-key ${keyPath} does not belong to the certificate of --tls-cert ${certPath}`,
  );
  expect(await shown()).toBe(first);
  put(foreign.server);
  await expect.poll(shown).not.toBe(first);
});

test.each(["engine", "node"])("curl shows its token over TLS, by every version of HTTP: --http2 %s", async (http2) => {
  const { path: principals } = principalsFile([{ name: "app", permissions: ["ids"] }]);
  const { server } = await runServer({ ...tlsFlags(), http2, principals });
  const url = `https://127.0.0.1:${server.address.port}/snowlane.v1.IdService`;
  const curl = (...args: readonly string[]): Promise<string> =>
    runCommand("curl", ["-sS", "--max-time", "60", "--cacert", certificates.caFile, "-w", " %{http_code}", ...args]);
  const post = ["-H", "content-type: application/json", "--data", "{}", `${url}/NextId`];
  const get = [`${url}/GetInfo?connect=v1&encoding=json&message=%7B%7D`];
  for (const version of [["--http1.0", "--no-alpn"], ["--http1.1"], ["--http2"]]) {
    for (const shown of [
      ["-H", `authorization: ${bearer("app").authorization}`],
      ["--oauth2-bearer", tokenOf("app")],
    ]) {
      expect(await curl(...version, ...shown, ...post)).toMatch(/^\{"id":"\d+","deployment":\d+\} 200$/);
      expect(await curl(...version, ...shown, ...get)).toMatch(/^\{.*\} 200$/);
    }
    for (const refused of [[], ["--oauth2-bearer", tokenOf("nobody")], ["-u", `app:${tokenOf("app")}`]]) {
      for (const call of [post, get]) {
        expect(await curl(...version, ...refused, ...call)).toMatch(/MISSING_CREDENTIALS.* 401$/s);
      }
    }
  }
});
