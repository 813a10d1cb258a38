/** Certificates and authorities that are replaced while callers are served. */
import { once } from "node:events";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { connect, type ConnectionOptions } from "node:tls";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { certifiedCalls, identityOf } from "../support/http2/certified-call.ts";
import { type CertificateFiles, type Certificates, makeCertificates } from "../support/processes/certificates.ts";
import { principalsFile } from "../support/processes/principals-file.ts";
import { runServer, temporaryFolder } from "../support/processes/running-server.ts";

let ours: Certificates;
let next: Certificates;

beforeAll(async () => {
  [ours, next] = await Promise.all([makeCertificates(), makeCertificates()]);
});
afterAll(() => {
  ours.remove();
  next.remove();
});

/** Files that a server watches. */
function watchedFiles() {
  const folder = temporaryFolder();
  const flags = { tlsCert: join(folder, "cert.pem"), tlsKey: join(folder, "key.pem"), tlsClientCa: join(folder, "ca") };
  const put = ({ certFile, keyFile }: CertificateFiles, halfway = (): void => undefined): void => {
    copyFileSync(certFile, flags.tlsCert);
    halfway();
    copyFileSync(keyFile, flags.tlsKey);
  };
  const trust = (caFile: string): void => copyFileSync(caFile, flags.tlsClientCa);
  return { flags, put, trust };
}

const principals = () => principalsFile([{ name: "app", permissions: ["ids"], certificates: ["dns:client"] }]).path;
const bothAuthorities = (): Buffer => Buffer.concat([readFileSync(ours.caFile), readFileSync(next.caFile)]);

describe.each(Object.entries(certifiedCalls))("over %s", (_name, ask) => {
  test("callers notice nothing of certificates that are replaced again and again", async () => {
    const { flags, put, trust } = watchedFiles();
    put(ours.server);
    trust(ours.caFile);
    const { server, reload, log, faults } = await runServer({ ...flags, principals: principals() });
    const tls = { port: server.address.port, ca: bothAuthorities(), ...identityOf(ours.client) };
    const answers: unknown[] = [];
    const stop = new AbortController();
    const callers = Array.from({ length: 4 }, async () => {
      while (!stop.signal.aborted) answers.push(await ask(tls));
    });
    for (let turn = 1; turn <= 10; turn++) {
      // Between the two files the key does not belong to the certificate.
      put(turn % 2 === 0 ? ours.server : next.server, () => reload());
      reload();
      const enough = answers.length + 10;
      await expect.poll(() => answers.length).toBeGreaterThan(enough);
    }
    stop.abort();
    await Promise.all(callers);
    expect(answers.filter((answer) => answer !== 200)).toEqual([]);
    expect(log.filter((line) => line.includes("The TLS files cannot be used"))).not.toEqual([]);
    expect(log.filter((line) => line.includes("The TLS files were read again"))).toHaveLength(10);
    expect(faults).toEqual([]);
  });
});

/** One call by a connection that may resume an earlier one; with the session that the server then offered. */
async function resume(options: ConnectionOptions & { readonly port: number }) {
  const socket = connect({ host: "127.0.0.1", ALPNProtocols: ["http/1.1"], ...options });
  onTestFinished(() => void socket.destroy());
  let session: Buffer | undefined;
  socket.on("session", (offered: Buffer) => (session = offered));
  const closed = once(socket, "close").catch(() => undefined);
  socket.on("error", () => undefined);
  let isReused = false;
  socket.once("secureConnect", () => (isReused = socket.isSessionReused()));
  const fields = "host: localhost\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close";
  socket.write(`POST /snowlane.v1.IdService/NextId HTTP/1.1\r\n${fields}\r\n\r\n{}`);
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
  await closed;
  return { status: /^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? "cut off", isReused, session };
}

describe.each(["TLSv1.2", "TLSv1.3"] as const)("a session of %s", (maxVersion) => {
  test.each(["required", "optional"])(
    "does not outlive the authority that vouched for it: %s",
    async (tlsClientAuth) => {
      const { flags, put, trust } = watchedFiles();
      put(ours.server);
      trust(ours.caFile);
      const { server, reload, faults } = await runServer({ ...flags, tlsClientAuth, principals: principals() });
      const tls = { port: server.address.port, ca: bothAuthorities(), maxVersion };
      const caller = identityOf(ours.client);
      const { session, ...first } = await resume({ ...tls, ...caller });
      expect(first).toEqual({ status: "200", isReused: false });
      // As long as its authority is trusted, a resumed session is its caller, and needs to show nothing.
      expect(await resume({ ...tls, session })).toMatchObject({ status: "200", isReused: true });
      trust(next.caFile);
      reload();
      expect(await resume({ ...tls, ...caller, session })).toMatchObject({ status: "cut off", isReused: false });
      const nameless = tlsClientAuth === "optional" ? "401" : "cut off";
      expect(await resume({ ...tls, session })).toMatchObject({ status: nameless, isReused: false });
      expect(await resume({ ...tls, ...identityOf(next.client) })).toMatchObject({ status: "200" });
      expect(server.source.status().counters.issued).toBe(3);
      expect(faults).toEqual([]);
    },
  );

  test("of a caller without a certificate stays without one", async () => {
    const { flags, put, trust } = watchedFiles();
    put(ours.server);
    trust(ours.caFile);
    const { server } = await runServer({ ...flags, tlsClientAuth: "optional", principals: principals() });
    const tls = { port: server.address.port, ca: bothAuthorities(), maxVersion };
    const { session, ...first } = await resume(tls);
    expect(first).toEqual({ status: "401", isReused: false });
    expect(await resume({ ...tls, ...identityOf(ours.client), session })).toMatchObject({ status: "401" });
    expect(server.source.status().counters.issued).toBe(0);
  });
});
