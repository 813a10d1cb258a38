/** Requests of HTTP/1.1 that contradict themselves, as bytes on a connection: each reader may see another request. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import { formatAddress } from "../../src/config/address.ts";
import { sendBytes } from "../support/http2/http-call.ts";
import { makeCertificates } from "../support/processes/certificates.ts";
import { runServer, temporaryFolder } from "../support/processes/running-server.ts";

const nextId = "/snowlane.v1.IdService/NextId";
const parse = "/snowlane.v1.IdService/Parse";
const rest = "content-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";

type Send = (text: string) => Promise<string>;

/** Each kind of server: where its requests are asked for a name, and where they are not. */
const servers = {
  "on loopback": async () => {
    const { address, server, faults } = await runServer();
    return { send: sender(address), server, faults };
  },
  "on loopback, with --hosts any": async () => {
    const { address, server, faults } = await runServer({ hosts: "any" });
    return { send: sender(address), server, faults };
  },
  "on an open address": async () => {
    const store = `sqlite:${temporaryFolder()}/ids.db`;
    const { server, faults } = await runServer({ listen: "0.0.0.0:0", auth: "none", store });
    return { send: sender(`127.0.0.1:${server.address.port}`), server, faults };
  },
  "over TLS": async () => {
    const certificates = await makeCertificates();
    onTestFinished(certificates.remove);
    const { certFile, keyFile } = certificates.server;
    const { server, faults } = await runServer({ tlsCert: certFile, tlsKey: keyFile });
    const ca = readFileSync(certificates.caFile);
    const send: Send = async (text) => {
      const socket = connect({ port: server.address.port, host: "127.0.0.1", servername: "localhost", ca });
      let received = "";
      socket.setEncoding("latin1").on("data", (chunk: string) => (received += chunk));
      socket.write(text);
      await once(socket, "close");
      return received;
    };
    return { send, server, faults };
  },
} as const;

function sender(address: string): Send {
  return (text) => sendBytes(address, [text]);
}

test.each(Object.entries(servers))(
  "of two Host fields neither counts: %s (the first was answered)",
  async (_where, start) => {
    const { send, server, faults } = await start();
    const ask = (hosts: readonly string[], version = "1.1", path = nextId) =>
      send(`POST ${path} HTTP/${version}\r\n${hosts.map((host) => `${host}\r\n`).join("")}${rest}`);
    const { issued } = server.source.status().counters;
    for (const hosts of [
      ["host: localhost", "host: evil.test"],
      ["host: evil.test", "host: localhost"],
      ["host: localhost", "host: localhost"],
      ["Host: localhost", "HOST: localhost"],
      ["host: localhost", "x: y", "host:"],
    ]) {
      for (const version of ["1.1", "1.0"]) {
        for (const path of [nextId, parse, "/healthz", "http://localhost/healthz"]) {
          const answer = await ask(hosts, version, path);
          expect([hosts, path, answer]).toEqual([
            hosts,
            path,
            expect.stringMatching(/^HTTP\/1\.1 400 [^]*one Host field/),
          ]);
        }
      }
    }
    expect(server.source.status().counters.issued).toBe(issued);
    expect(await ask(["host: localhost", "hos: evil.test", "x-host: evil.test"])).toMatch(/^HTTP\/1\.1 200 [^]*"id"/);
    expect(faults).toEqual([]);
  },
);

test.each(Object.entries(servers))(
  "a request line of another version is refused: %s (it was served)",
  async (_where, start) => {
    const { send, server, faults } = await start();
    const ask = (version: string, path = nextId) => send(`POST ${path} HTTP/${version}\r\nhost: localhost\r\n${rest}`);
    const { issued } = server.source.status().counters;
    for (const path of [nextId, parse, "/healthz"]) {
      for (const version of ["2.0", "0.9"]) {
        const answer = await ask(version, path);
        expect([version, path, answer]).toEqual([
          version,
          path,
          expect.stringMatching(new RegExp(`^HTTP/1\\.1 505 [^]*says HTTP/${version}`)),
        ]);
      }
      // node:http cannot read these.
      for (const version of ["3.0", "1.2", "2", "11.1"]) expect(await ask(version, path)).toMatch(/^HTTP\/1\.1 505 /);
    }
    expect(server.source.status().counters.issued).toBe(issued);
    for (const version of ["1.0", "1.1"]) expect(await ask(version)).toMatch(/^HTTP\/1\.1 200 [^]*"id"/);
    expect(faults).toEqual([]);
  },
);

test("the listener of operators refuses the same requests", async () => {
  const { server } = await runServer({ adminListen: "127.0.0.1:0" });
  const address = formatAddress(server.adminAddress!);
  const head = "connection: close\r\nhost: localhost\r\n";
  const ask = (version: string, more = "") =>
    sendBytes(address, [`GET /healthz HTTP/${version}\r\n${head}${more}\r\n`]);
  expect(await ask("1.1")).toMatch(/^HTTP\/1\.1 200 /);
  expect(await ask("1.1", "host: localhost\r\n")).toMatch(/^HTTP\/1\.1 400 /);
  expect(await ask("2.0")).toMatch(/^HTTP\/1\.1 505 /);
});

// They got 400, except 0.9 and 2.0.
test("OPERATIONS 15: a request line of another version than HTTP/1.0 and HTTP/1.1 gets 505", async () => {
  const { address } = await runServer();
  for (const version of ["0.9", "1.2", "1.9", "2.0", "3.0"]) {
    const answer = await sendBytes(address, [`GET /healthz HTTP/${version}\r\nhost: localhost\r\n\r\n`]);
    expect([version, answer]).toEqual([version, expect.stringMatching(/^HTTP\/1\.1 505 /)]);
  }
  for (const line of ["GET /healthz HTCPCP/1.0", "nonsense"]) {
    expect(await sendBytes(address, [`${line}\r\nhost: localhost\r\n\r\n`])).toMatch(/^HTTP\/1\.1 400 /);
  }
  const large = `GET /healthz HTTP/1.1\r\nhost: localhost\r\nx: ${"x".repeat(20_000)}\r\n\r\n`;
  expect(await sendBytes(address, [large])).toMatch(/^HTTP\/1\.1 431 /);
});

// Gzip was served as if it were chunked alone, and HTTP/1.0 with chunks.
test("OPERATIONS 16: a Transfer-Encoding other than chunked gets 501, and one in HTTP/1.0 gets 400", async () => {
  const { address, server } = await runServer();
  const ask = (version: string, coding: string) =>
    sendBytes(address, [
      `POST ${nextId} HTTP/${version}\r\nhost: localhost\r\ncontent-type: application/json\r\nconnection: close\r\n` +
        `transfer-encoding: ${coding}\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    ]);
  expect(await ask("1.1", "gzip, chunked")).toMatch(/^HTTP\/1\.1 501 /);
  expect(await ask("1.1", "x, chunked")).toMatch(/^HTTP\/1\.1 501 /);
  expect(await ask("1.0", "chunked")).toMatch(/^HTTP\/1\.1 400 /);
  expect(server.source.status().counters.issued).toBe(0);
  expect(await ask("1.1", "Chunked")).toMatch(/^HTTP\/1\.1 200 /);
});

// It was asked to send a content type, which a GET does not have.
test("OPERATIONS 17: a GET of a method without connect=v1 is refused with what its query needs", async () => {
  const { address } = await runServer();
  const answer = await sendBytes(address, [`GET ${parse} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`]);
  expect(answer).toMatch(/^HTTP\/1\.1 415 [^]*connect=v1, encoding=json and message=/);
  expect(answer).not.toContain("Send content-type");
});
