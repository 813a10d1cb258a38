import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { makeCertificates } from "../support/processes/certificates.ts";
import { runCli } from "../support/processes/cli-outcome.ts";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { startSnowlane } from "../support/processes/snowlane-process.ts";

async function health(...args: readonly string[]): Promise<readonly [code: number | null, out: string, err: string]> {
  const { code, stdout, stderr } = await runCli(["health", ...args]);
  return [code, stdout.toString(), stderr];
}

async function listening(handler: RequestListener): Promise<string> {
  const server = createServer(handler).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as { readonly port: number }).port}`;
}

test("a server that serves is 0, and one that has stopped is 1", async () => {
  const server = await startSnowlane({ args: ["--store", `sqlite:${temporaryFolder()}/ids.db`] });
  onTestFinished(() => void server.child.kill("SIGKILL"));
  expect(await health("--server", server.url)).toEqual([0, "SERVING\n", ""]);
  await server.stop("SIGTERM");
  expect(await health("--server", server.url)).toEqual([
    1,
    "",
    `snowlane: No server serves at ${server.url}: the connection was refused.\n`,
  ]);
});

test("a server over TLS is asked with the certificates that Node trusts", async () => {
  const certificates = await makeCertificates();
  onTestFinished(() => certificates.remove());
  const { certFile, keyFile } = certificates.server;
  const server = await startSnowlane({
    args: ["--tls-cert", certFile, "--tls-key", keyFile, "--store", `sqlite:${temporaryFolder()}/ids.db`],
  });
  onTestFinished(() => void server.child.kill("SIGKILL"));
  const url = server.url.replace("http:", "https:");
  const [code, out, err] = await health("--server", url);
  expect([code, out]).toEqual([1, ""]);
  expect(err).toMatch(/^snowlane: The certificate of https:\S+ is not trusted: .*Give --ca FILE.*\n$/);
  const trusting = await runCli(["health", "--server", url], {
    environment: { NODE_EXTRA_CA_CERTS: certificates.caFile },
  });
  expect([trusting.code, trusting.stderr]).toEqual([0, ""]);
});

test.each([
  ["NOT_SERVING", 200, '{"status":"NOT_SERVING"}', /says NOT_SERVING/],
  ["a page", 200, "<html>", /is not a Snowlane server: it answers with 200/],
  ["null", 200, "null", /is not a Snowlane server/],
  ["a proxy", 502, "Bad Gateway", /is not a Snowlane server: it answers with 502/],
  ["an endless answer", 200, "x".repeat(100_000), /the answer is too long/],
])("%s is 1 with one line", async (_name, status, body, message) => {
  const url = await listening((_request, response) => {
    response.writeHead(status).end(body);
  });
  const [code, out, err] = await health("--server", url);
  expect([code, out]).toEqual([1, ""]);
  expect(err).toMatch(message);
  expect(err.trimEnd().split("\n")).toHaveLength(1);
});

test("a server that takes the connection and says nothing is 1 after two seconds", async () => {
  const silent = createTcpServer().listen(0, "127.0.0.1");
  onTestFinished(() => void silent.close());
  await once(silent, "listening");
  const { port } = silent.address() as { readonly port: number };
  expect(await health("--server", `http://127.0.0.1:${port}`)).toEqual([
    1,
    "",
    `snowlane: No server serves at http://127.0.0.1:${port}: no answer within 2 s.\n`,
  ]);
});

test("without --server it asks the address at which serve listens by default", async () => {
  const [code, out] = await health("--help");
  expect([code, out]).toEqual([0, expect.stringContaining("Default: http://127.0.0.1:7609")]);
});
