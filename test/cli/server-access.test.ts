/** The commands with `--server`, against a server that is closed by TLS, client certificates and tokens. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadCommands } from "../../src/cli/commands.ts";
import { type Certificates, makeCertificates } from "../support/processes/certificates.ts";
import { principalsFile, tokenOf } from "../support/processes/principals-file.ts";
import { runServer, temporaryFolder } from "../support/processes/running-server.ts";
import { runInProcess } from "./in-process.ts";

let certificates: Certificates;
beforeAll(async () => {
  certificates = await makeCertificates();
});
afterAll(() => certificates.remove());

const principals = [
  { name: "all", permissions: ["all"] },
  { name: "ids", permissions: ["ids"] },
  { name: "client", permissions: ["all"], certificates: ["dns:client"] },
];

/** A server that lets in a token or a client certificate, over TLS with a private authority. */
async function closedServer(clientAuth: "optional" | "required") {
  const { certFile, keyFile } = certificates.server;
  const { url } = await runServer({
    tlsCert: certFile,
    tlsKey: keyFile,
    tlsClientCa: certificates.caFile,
    tlsClientAuth: clientAuth,
    principals: principalsFile(principals).path,
  });
  return url.replace("http:", "https:");
}

function fileOf(text: string): string {
  const path = join(temporaryFolder(), "file");
  writeFileSync(path, text);
  return path;
}

/** What to give to each command with the option `server`, by its name. */
const calls: ReadonlyMap<string, readonly (readonly string[])[]> = new Map([
  ["next", [["-n", "3"]]],
  ["workers", [[]]],
  ["status", [[], ["--json"]]],
  ["sequences create", [["orders"]]],
  ["sequences update", [["orders", "--description", "of the shop"]]],
  ["sequences next", [["orders"]]],
  ["sequences get", [["orders"]]],
  ["sequences", [[]]],
  ["whoami", [[], ["--json"]]],
  ["health", [[]]],
]);

test("every command with --server reaches a closed server by a token, or by a client certificate", async () => {
  const server = await closedServer("optional");
  const { caFile: ca, client } = certificates;
  const trusted = ["--server", server, "--ca", ca];
  const byToken = ["--token-file", fileOf(`${tokenOf("all")}\n`)];
  const byCertificate = ["--cert", client.certFile, "--key", client.keyFile];
  const withServer = (await loadCommands()).filter(({ options }) => "server" in options).map(({ name }) => name);
  expect([...calls.keys()].toSorted()).toEqual(withServer.toSorted());
  const commands = [...calls].flatMap(([name, all]) => all.map((words) => [...name.split(" "), ...words]));
  for (const command of commands) {
    for (const credentials of [byToken, byCertificate]) {
      const { code, stderr, fault } = await runInProcess([...command, ...trusted, ...credentials]);
      expect([command, code, stderr, fault]).toEqual([command, 0, "", undefined]);
    }
  }
  // Health needs no credentials.
  expect(await runInProcess(["health", ...trusted])).toMatchObject({ code: 0 });
});

test("a command that a closed server refuses says what to give", async () => {
  const [server, strict] = [await closedServer("optional"), await closedServer("required")];
  const ca = ["--ca", certificates.caFile];
  const { certFile, keyFile } = certificates.client;
  const wrong = ["--token-file", fileOf("snw_wrong")];
  const ids = ["--token-file", fileOf(tokenOf("ids"))];
  const stranger = ["--cert", certificates.server.certFile, "--key", certificates.server.keyFile];
  const cases = [
    [["next", "--server", server], "not trusted: self-signed certificate in certificate chain. Give --ca FILE"],
    [["health", "--server", server], "not trusted: self-signed certificate in certificate chain. Give --ca FILE"],
    [["next", "--server", server, ...ca], "refuses the call, MISSING_CREDENTIALS: This call needs credentials"],
    [["next", "--server", server, ...ca], "Give --token-file FILE, or --cert FILE and --key FILE."],
    [["next", "--server", server, ...ca, ...wrong], "MISSING_CREDENTIALS"],
    [["status", "--server", server, ...ca, ...ids], "METHOD_DENIED: These credentials do not permit"],
    [["status", "--server", strict, ...ca], "requires a client certificate. Give --cert FILE and --key FILE."],
    [["health", "--server", strict, ...ca], "requires a client certificate. Give --cert FILE and --key FILE."],
    [["next", "--server", strict, ...ca, ...stranger], "client certificate"],
    [["next", "--server", server.replace("https", "http")], "If it speaks TLS, begin --server with https://."],
    [["health", "--server", server.replace("https", "http")], "If it speaks TLS, begin --server with https://."],
  ] as const;
  for (const [words, message] of cases) {
    const { code, stdout, stderr, fault } = await runInProcess(words);
    expect([words, code, stdout, stderr, fault]).toEqual([words, 1, "", expect.stringContaining(message), undefined]);
  }
  const credentials = ["--cert", certFile, "--key", keyFile];
  expect(await runInProcess(["status", "--server", strict, ...ca, ...credentials])).toMatchObject({ code: 0 });
});

describe("what is wrong with the options", () => {
  const server = ["--server", "https://127.0.0.1:1"];
  const cases: readonly (readonly [what: string, args: () => readonly string[], message: string])[] = [
    ["without a server", () => ["next", "--ca", "x.pem"], "Give --server too"],
    ["a certificate without its key", () => ["next", ...server, "--cert", "x.pem"], "Give --key too"],
    ["a key without its certificate", () => ["next", ...server, "--key", "x.pem"], "Give --cert too"],
    ["an authority without TLS", () => ["next", "--server", "http://h:1", "--ca", "x"], "begin --server with https://"],
    [
      "a token in plaintext to another machine",
      () => ["workers", "--server", "http://ids.example.com:1", "--token-file", "x"],
      "in plaintext",
    ],
    ["a file that is not there", () => ["status", ...server, "--token-file", "/none"], "Name a file that can be read"],
    ["a folder", () => ["status", ...server, "--ca", "/"], "Name a file that can be read"],
    ["no PEM", () => ["status", ...server, "--ca", fileOf("secret text")], "It holds no certificate in PEM."],
    [
      "a key of another certificate",
      () => ["next", ...server, "--cert", certificates.client.certFile, "--key", certificates.server.keyFile],
      "It holds no private key that fits --cert in PEM.",
    ],
    [
      "two lines of token",
      () => ["next", ...server, "--token-file", fileOf("secret a\nsecret b")],
      "It holds no token",
    ],
    ["an empty token", () => ["next", ...server, "--token-file", fileOf("\n")], "It holds no token"],
    ["the token itself", () => ["next", ...server, "--token-file", "snw_secret"], "not the token itself"],
  ];
  test.each(cases)("%s", async (_what, args, message) => {
    const { code, stderr, fault } = await runInProcess(args());
    expect([code, stderr, fault]).toEqual([2, expect.stringContaining(message), undefined]);
    expect(stderr).not.toContain("secret");
  });
});

describe("NEWCOMER 5: whoami says what the credentials may do", () => {
  const asked = ["whoami", "--json", "--server"];

  test("of a token with one permission, of one with all, and of one that the server does not know", async () => {
    const { url } = await runServer({ principals: principalsFile(principals).path });
    const of = async (text: string) => await runInProcess([...asked, url, "--token-file", fileOf(text)]);
    const ids = await of(tokenOf("ids"));
    expect(JSON.parse(ids.stdout)).toEqual({ permissions: ["ids"], asksForCredentials: true });
    const all = JSON.parse((await of(tokenOf("all"))).stdout) as unknown;
    expect(all).toEqual({ permissions: ["ids", "sequences", "manage", "observe"], asksForCredentials: true });
    expect(await of("snw_other")).toMatchObject({ code: 1, stderr: expect.stringContaining("MISSING_CREDENTIALS") });
    expect(await runInProcess(["whoami", "--server", url])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("Give --token-file FILE"),
    });
  });

  test("of a server that asks for no credentials", async () => {
    const { url } = await runServer({});
    const { code, stdout } = await runInProcess(["whoami", "--server", url]);
    expect([code, stdout]).toEqual([0, expect.stringContaining("every caller may do this")]);
    expect(stdout).toMatch(/^ids {8}yes {10}new IDs; reading IDs$/m);
  });
});
