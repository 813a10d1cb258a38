import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type Certificates, makeCertificates } from "../../../test/support/processes/certificates.ts";
import { faultError } from "../../../test/support/processes/scripted-id-server.ts";
import { answerNextId, serve } from "../test/raw-call.ts";
import { connect, errorOf, startServer } from "../test/scripted-client.ts";
import { createNodeClient, type NodeClientOptions } from "./node.ts";

let certificates: Certificates;
const text = (path: string): string => readFileSync(path, "utf8");
beforeAll(async () => {
  certificates = await makeCertificates();
});
afterAll(() => certificates.remove());

const serveTls = async ({ certFile, keyFile } = certificates.server, more = {}): Promise<string> => {
  const tls = { cert: text(certFile), key: text(keyFile), ALPNProtocols: ["h2"], ...more };
  const server = await serve(answerNextId, { tls });
  return `https://localhost:${server.port}`;
};

function clientOf(url: string, tls?: NodeClientOptions["tls"]) {
  const client = createNodeClient({ endpoints: [url], ...(tls && { tls }) });
  onTestFinished(() => client.close());
  return client;
}

test("a mistake of the connection fails at once, of a buffer too, and says what to correct", async () => {
  const ca = text(certificates.caFile);
  const web = createServer((_, response) => response.end("hello")).listen(0, "127.0.0.1");
  await once(web, "listening");
  onTestFinished(() => void web.close());
  const [other, past] = [
    await certificates.sign("other", "subjectAltName=DNS:ids.example.com\n"),
    await certificates.sign("past", "subjectAltName=DNS:localhost\n", -1),
  ];
  const plainUrl = (await startServer()).url;
  const mistakes: readonly (readonly [kind: string, url: string, tls: NodeClientOptions["tls"], text: string])[] = [
    ["not_tls", plainUrl.replace("http:", "https:"), { ca }, "begin the endpoint with http://."],
    ["not_grpc", `http://127.0.0.1:${(web.address() as AddressInfo).port}`, undefined, "other than a gRPC server"],
    ["untrusted", await serveTls(), undefined, "is not trusted"],
    ["wrong_host", await serveTls(other), { ca }, "is for another host"],
    ["expired", await serveTls(past), { ca }, "has expired"],
    [
      "needs_certificate",
      await serveTls(undefined, { requestCert: true, rejectUnauthorized: true, ca }),
      { ca },
      "requires a client certificate",
    ],
  ];
  for (const [kind, url, tls, said] of mistakes) {
    const client = clientOf(url, tls);
    const buffer = client.prefetch();
    for (const error of [await errorOf(client.nextId()), await errorOf(Promise.resolve(buffer.nextId()))]) {
      expect(error, kind).toMatchObject({ reason: "UNREACHABLE", metadata: { connection: kind, answered: "never" } });
      expect(error.message).toContain(said);
      expect(error.message).not.toContain("snowlane serve");
      expect(error.passes()).toBe(false);
    }
  }
});

test("a connection that is closed before any answer is tried again, and says that it may want https", async () => {
  const url = (await serveTls()).replace("https:", "http:");
  const error = await errorOf(clientOf(url).nextId());
  expect(error.metadata).toEqual({ connection: "closed" });
  expect(error.message).toContain("begin the endpoint with https://.");
});

test("a server that answers UNAVAILABLE is distinguished from one that does not answer", async () => {
  const server = await startServer();
  server.handlers = {
    nextId: () => {
      throw faultError({ code: Code.Unavailable });
    },
  };
  const error = await errorOf(connect([server], { retryMax: 0 }).nextId());
  expect(String(error)).toMatch(/^UNREACHABLE: The server cannot answer now: scripted/);
});

test("certificates may change while a client runs: each connection asks for them", async () => {
  const url = await serveTls();
  const ca = text(certificates.caFile);
  let asked = 0;
  const client = clientOf(url, () => {
    asked++;
    return asked === 1 ? { ca: text(certificates.server.certFile) } : { ca };
  });
  expect((await errorOf(client.nextId())).metadata).toMatchObject({ connection: "untrusted" });
  expect(await client.nextId()).toBe(1n);
  expect(asked).toBe(2);
});
