/** Cases of mistakes that show when the first connection is made: no waiting cures them. */
import { createServer } from "node:http";
import { createSecureServer } from "node:http2";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { findFreePort } from "../../support/processes/free-port.ts";
import { makeCertificates } from "../../support/processes/certificates.ts";
import { CleartextServer } from "../../support/processes/cleartext-server.ts";
import type { Case } from "./case.ts";
import { hold, type World } from "./world.ts";

/** The longest that a call takes whose first connection shows a mistake. */
const atOnceMs = 2_000;

/** Holds a client to fail at once, by call and by buffer, and to name the mistake in its metadata as one of `kinds`. */
async function holdMistake(world: World, url: string, kinds: readonly string[]): Promise<void> {
  for (const keys of [{}, { buffer: 1 }]) {
    const [result] = await (await world.open([url], keys)).call();
    hold(result?.reason === "UNREACHABLE", `the call gave ${result?.text ?? `the ID ${result?.id}`}`);
    hold(result.durationMs < atOnceMs, `the call took ${Math.round(result.durationMs)} ms: ${result.text}`);
    const kind = result.metadata?.["connection"] ?? "nothing";
    hold(kinds.includes(kind), `the metadata say ${kind} of the connection, and not ${kinds.join(" or ")}`);
  }
}

/** A server that speaks TLS, by a certificate of an authority that nobody knows. Gives its port. */
async function tlsServer(world: World): Promise<number> {
  const certificates = await makeCertificates();
  world.onEnd(() => Promise.resolve(certificates.remove()));
  const { certFile, keyFile } = certificates.server;
  const server = createSecureServer({ cert: readFileSync(certFile), key: readFileSync(keyFile), allowHTTP1: true });
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
      const [result] = await (await world.open([`http://127.0.0.1:${await tlsServer(world)}`])).call();
      hold(result?.reason === "UNREACHABLE", `the call gave ${result?.text ?? `the ID ${result?.id}`}`);
      hold(result.text?.includes("https://") === true, `the error does not name https: ${result.text}`);
    },
  },
  {
    rule: "attempts 8",
    name: "untrusted",
    law: "A certificate of an authority that the client does not trust fails a call at once, as untrusted.",
    isNeeded: true,
    run: async (world) => holdMistake(world, `https://127.0.0.1:${await tlsServer(world)}`, ["untrusted"]),
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
        hold(result.durationMs < atOnceMs, `the call took ${Math.round(result.durationMs)} ms: ${result.text}`);
      }
    },
  },
];
