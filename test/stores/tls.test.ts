import { chmodSync, chownSync, copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { once } from "node:events";
import { type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer } from "node:tls";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import type { RecordStore } from "../../src/store/record-store.ts";
import { type Certificates, makeCertificates } from "../support/processes/certificates.ts";
import { startEtcd } from "../support/servers/etcd-server.ts";
import { FakeKubernetes } from "../support/servers/fake-kubernetes.ts";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { nobody, startPostgres } from "../support/servers/postgres-server.ts";
import { startRedis } from "../support/servers/redis-server.ts";
import type { RemoteStoreServer } from "../support/servers/remote-stores.ts";
import { startZooKeeper } from "../support/servers/zookeeper-server.ts";

let certificates: Certificates;
beforeAll(async () => {
  certificates = await makeCertificates();
});
afterAll(() => certificates.remove());

/** What speaks TLS from its first byte: a terminator before the real server, which asks for a client's certificate. */
async function startTerminator(targetPort: number): Promise<number> {
  const { server, caFile } = certificates;
  const options = { key: readFileSync(server.keyFile), cert: readFileSync(server.certFile), ca: readFileSync(caFile) };
  const terminator = createServer({ ...options, requestCert: true, ALPNProtocols: ["h2", "http/1.1"] }, (socket) => {
    const target = connect(targetPort, "127.0.0.1");
    socket.on("error", () => target.destroy()).on("close", () => target.destroy());
    target.on("error", () => socket.destroy()).on("close", () => socket.destroy());
    socket.pipe(target).pipe(socket);
  });
  terminator.on("tlsClientError", () => {});
  terminator.listen(0, "127.0.0.1");
  await once(terminator, "listening");
  onTestFinished(() => void terminator.close());
  return (terminator.address() as AddressInfo).port;
}

/** The files of the server, such that PostgreSQL takes them: owned by its user, and nobody else's to read. */
function copyForPostgres(): { readonly cert: string; readonly key: string } {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-postgres-tls-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [cert, key] = [join(folder, "server.pem"), join(folder, "server.key")];
  copyFileSync(certificates.server.certFile, cert);
  copyFileSync(certificates.server.keyFile, key);
  chmodSync(key, 0o600);
  if (process.getuid?.() === 0) for (const path of [folder, cert, key]) chownSync(path, nobody, nobody);
  return { cert, key };
}

/** Starts a server that speaks TLS; returns its URL, to which parameters can be added. */
const starts: Readonly<Record<string, () => Promise<string>>> = {
  postgres: async () => {
    const { cert, key } = copyForPostgres();
    const server = await startPostgres(["-c", "ssl=on", "-c", `ssl_cert_file=${cert}`, "-c", `ssl_key_file=${key}`]);
    onTestFinished(() => server.stop());
    return `postgres://postgres@127.0.0.1:${server.port}/postgres?tls=true`;
  },
  mysql: async () => {
    const { server: files, caFile } = certificates;
    const args = [`--ssl-cert=${files.certFile}`, `--ssl-key=${files.keyFile}`, `--ssl-ca=${caFile}`];
    const server = await startMariadb(args);
    onTestFinished(() => server.stop());
    return `mysql://root@127.0.0.1:${server.port}/test?tls=true`;
  },
  redis: () => behindTerminator(startRedis(), (port) => `rediss://127.0.0.1:${port}?replicas=0`),
  etcd: () => behindTerminator(startEtcd(), (port) => `etcd://127.0.0.1:${port}?tls=true`),
  zookeeper: () => behindTerminator(startZooKeeper(), (port) => `zookeeper://127.0.0.1:${port}?tls=true`),
  kubernetes: () =>
    behindTerminator(startKubernetes(), (port) => `kubernetes://test/snowlane?server=https://127.0.0.1:${port}`),
};

async function behindTerminator(start: Promise<RemoteStoreServer>, url: (port: number) => string): Promise<string> {
  const server = await start;
  onTestFinished(() => server.stop());
  return url(await startTerminator(server.port));
}

async function startKubernetes(): Promise<FakeKubernetes> {
  const api = new FakeKubernetes();
  await api.listen();
  return api;
}

async function open(url: string): Promise<RecordStore> {
  const store = await openStore(url, { namespace: "default", callTimeoutMs: 30_000 });
  onTestFinished(() => store.close());
  return store;
}

test.each(Object.keys(starts))(
  "%s is spoken to over TLS, by a server alone whose certificate is right",
  async (kind) => {
    const url = await starts[kind]!();
    const { caFile, client } = certificates;
    const trusting = await open(`${url}&caFile=${caFile}&certFile=${client.certFile}&keyFile=${client.keyFile}`);
    expect((await trusting.compareAndSet("layout", undefined, "over TLS")).kind).toBe("applied");
    expect((await trusting.read("layout")).entry?.text).toBe("over TLS");
    const refused = expect.objectContaining({
      reason: "INVALID_CONFIG",
      message: expect.stringMatching(/certificate/),
    });
    await expect((await open(url)).read("layout")).rejects.toEqual(refused);
    const misnamed = await open(`${url}&caFile=${caFile}&tlsServerName=elsewhere.example`);
    await expect(misnamed.read("layout")).rejects.toEqual(refused);
  },
);
