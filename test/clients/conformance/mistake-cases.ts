/** Cases of mistakes that show when the first connection is made: no waiting cures them. */
import { createServer } from "node:http";
import { createSecureServer, type SecureServerOptions } from "node:http2";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { findFreePort } from "../../support/processes/free-port.ts";
import { type CertificateFiles, type Certificates, makeCertificates } from "../../support/processes/certificates.ts";
import { CleartextServer } from "../../support/processes/cleartext-server.ts";
import type { Case } from "./case.ts";
import type { Keys } from "./program-under-test.ts";
import { hold, holdInTime, type World } from "./world.ts";

/** The longest that a call takes whose first connection shows a mistake. */
const atOnceMs = 2_000;

/** Holds a client to fail at once, by call and by buffer, and to name the mistake in its metadata as one of `kinds`. */
async function holdMistake(world: World, url: string, kinds: readonly string[], keys: Keys = {}): Promise<void> {
  for (const buffer of [0, 1]) {
    const [result] = await (await world.open([url], { ...keys, buffer })).call();
    holdInTime(result?.reason !== "DEADLINE_EXCEEDED", `the call gave ${result?.text}`);
    hold(result?.reason === "UNREACHABLE", `the call gave ${result?.text ?? `the ID ${result?.id}`}`);
    holdInTime(result.durationMs < atOnceMs, `the call took ${Math.round(result.durationMs)} ms: ${result.text}`);
    const kind = result.metadata?.["connection"] ?? "nothing";
    // A server that ends a connection for a mistake may do so before a busy machine has read why.
    holdInTime(kind !== "closed", `the connection was closed before ${kinds.join(" or ")} was seen`);
    hold(
      kinds.includes(kind),
      `the metadata say ${kind} of the connection, and not ${kinds.join(" or ")}: ${result.text}`,
    );
  }
}

/** An authority that nobody knows. */
async function authority(world: World): Promise<Certificates> {
  const certificates = await makeCertificates();
  world.onEnd(() => Promise.resolve(certificates.remove()));
  return certificates;
}

/** Starts a server that speaks TLS by a certificate. Gives its port. @param options - For certificates of clients. */
async function tlsServer(
  world: World,
  { certFile, keyFile }: CertificateFiles,
  options: SecureServerOptions = {},
): Promise<number> {
  const material = { cert: readFileSync(certFile), key: readFileSync(keyFile) };
  const server = createSecureServer({ ...material, allowHTTP1: true, ...options });
  server.on("sessionError", () => undefined).on("tlsClientError", () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  world.onEnd(async () => {
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

export const mistakeCases: readonly Case[] = [
  {
    rule: "attempts 8",
    name: "nobody-there",
    law: "Where no server ever answered and none listens, a call fails within a second and says so.",
    isNeeded: true,
    run: async (world) => holdMistake(world, `http://127.0.0.1:${await findFreePort()}`, ["refused"]),
  },
  {
    rule: "attempts 8",
    name: "tls-to-plain",
    law: "TLS to a port that speaks none fails at once, as not_tls.",
    isNeeded: true,
    run: async (world) => holdMistake(world, (await world.server()).url.replace("http:", "https:"), ["not_tls"]),
  },
  {
    rule: "attempts 8",
    name: "plain-to-tls",
    law: "A call without TLS to a port that speaks only TLS fails, and its text says to begin the endpoint with https.",
    isNeeded: true,
    run: async (world) => {
      const port = await tlsServer(world, (await authority(world)).server);
      const [result] = await (await world.open([`http://127.0.0.1:${port}`])).call();
      hold(result?.reason === "UNREACHABLE", `the call gave ${result?.text ?? `the ID ${result?.id}`}`);
      // The reset of a connection that the server closes may overtake its alert, by which a client knows TLS.
      holdInTime(result.text?.includes("https://") === true, `the error does not name https: ${result.text}`);
    },
  },
  {
    rule: "attempts 8",
    name: "untrusted",
    law: "A certificate of an authority that the client does not trust fails a call at once, as untrusted.",
    isNeeded: true,
    run: async (world) => {
      const port = await tlsServer(world, (await authority(world)).server);
      await holdMistake(world, `https://127.0.0.1:${port}`, ["untrusted"]);
    },
  },
  {
    rule: "attempts 8",
    name: "wrong-certificates",
    law: "A certificate for another host, one that has expired and a missing one of the client fail a call at once.",
    isNeeded: false,
    run: async (world) => {
      const { caFile, server, sign } = await authority(world);
      const others = await sign("others", "subjectAltName=DNS:other.example\nextendedKeyUsage=serverAuth\n");
      const past = await sign("past", "subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth\n", -1);
      const mutual = { requestCert: true, rejectUnauthorized: true, ca: readFileSync(caFile) };
      const ports = [
        ["wrong_host", await tlsServer(world, others)],
        ["expired", await tlsServer(world, past)],
        ["needs_certificate", await tlsServer(world, server, mutual)],
      ] as const;
      for (const [kind, port] of ports) await holdMistake(world, `https://127.0.0.1:${port}`, [kind], { ca: caFile });
    },
  },
  {
    rule: "attempts 8",
    name: "another-program",
    law: "Another program on the port, which speaks only HTTP/1.1, fails a call at once, as not_grpc.",
    isNeeded: true,
    run: async (world) => {
      const server = createServer((_, response) => response.end("Welcome!"));
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      world.onEnd(async () => {
        server.closeAllConnections();
        server.close();
      });
      await holdMistake(world, `http://127.0.0.1:${(server.address() as AddressInfo).port}`, ["not_grpc"]);
    },
  },
  {
    rule: "attempts 8",
    name: "wrong-path",
    law: "A server that has nothing at the path of the service fails a call at once.",
    isNeeded: true,
    run: async (world) => {
      const server = await new CleartextServer((_, response) => {
        response.statusCode = 404;
        response.setHeader("content-type", "text/html");
        response.end("<h1>Not found</h1>");
      }).start();
      world.onEnd(() => server.kill());
      for (const keys of [{}, { buffer: 1 }]) {
        const [result] = await (await world.open([server.url], keys)).call();
        hold(result?.reason !== undefined, `the call gave the ID ${result?.id}`);
        holdInTime(result.durationMs < atOnceMs, `the call took ${Math.round(result.durationMs)} ms: ${result.text}`);
      }
    },
  },
];
