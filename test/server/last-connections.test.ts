import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { grpcFrame } from "../support/http2/http-call.ts";
import { nextIdFields } from "../support/http2/http2-floods.ts";
import { RawClient } from "../support/http2/http2-raw-client.ts";
import { data, headers, hello } from "../support/http2/http2-wire.ts";
import { runServer, temporaryFolder } from "../support/processes/running-server.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";

const http2 = process.env["SNOWLANE_TEST_HTTP2"] ?? "engine";
/** More than come in at once at the rate below. */
const clientCount = 80;
const question = [hello, headers(1, "body", nextIdFields), data(1, grpcFrame(new Uint8Array(0)), "end")];

/** Waits until stream 1 has an ID. */
async function expectAnswer(client: RawClient): Promise<void> {
  const lines = await client.until((lines) =>
    lines.some((line) => line.startsWith("headers 1 ") && line.endsWith(" end")),
  );
  expect(lines).toContainEqual(expect.stringMatching(/^headers 1 .*grpc-status=0.* end$/));
}

async function startServer(): Promise<SnowlaneProcess> {
  const server = await startSnowlane({
    args: [
      "--http2",
      http2,
      "--store",
      `sqlite:${join(temporaryFolder(), "snowlane.db")}`,
      "--wait-max",
      "60s",
      "--connections-per-second",
      "100",
    ],
  });
  onTestFinished(() => void server.child.kill("SIGKILL"));
  return server;
}

test("connections that wait while a server stands still are served, though it is told to end", async () => {
  const server = await startServer();
  server.child.kill("SIGSTOP");
  // The system takes them: their requests are sent before the server has seen them.
  const port = Number(server.address.split(":")[1]);
  const clients = await Promise.all(Array.from({ length: clientCount }, () => RawClient.connect(port)));
  for (const client of clients) client.send(...question);
  const ended = server.stop("SIGTERM");
  server.child.kill("SIGCONT");
  for (const client of clients) {
    await expectAnswer(client);
    client.destroy();
  }
  expect(await ended).toBe(0);
});

test("a server that did not run for 11 s answers the callers whose first bytes came meanwhile (it reset them)", async () => {
  const server = await startServer();
  const port = Number(server.address.split(":")[1]);
  const clients = await Promise.all(Array.from({ length: 20 }, () => RawClient.connect(port)));
  // Half of them have said the first bytes of a preface: enough to be distinguished from HTTP/1.1.
  for (const client of clients.slice(10)) client.send(hello.subarray(0, 10));
  const last = await RawClient.connect(port);
  last.send(...question);
  await expectAnswer(last);
  server.child.kill("SIGSTOP");
  for (const [index, client] of clients.entries()) client.send(Buffer.concat(question).subarray(index < 10 ? 0 : 10));
  await sleep(11_000);
  server.child.kill("SIGCONT");
  for (const client of clients) await expectAnswer(client);
});

test("where one address holds most connections that are allowed, callers from another are served (they were not)", async () => {
  const running = await runServer({ connectionsMax: "40" });
  const { port } = running.server.address;
  const crowd = await Promise.all(Array.from({ length: 36 }, () => RawClient.connect(port)));
  onTestFinished(() => crowd.forEach((client) => client.destroy()));
  // The last says nothing at all.
  await Promise.all(crowd.slice(0, -1).map(async (client) => await client.exchange(hello)));
  for (let index = 0; index < 10; index++) {
    const client = await RawClient.connect(port, "127.0.0.2");
    onTestFinished(() => client.destroy());
    client.send(...question);
    await expectAnswer(client);
  }
  await expect.poll(() => crowd.filter(({ isClosed }) => isClosed).length).toBe(10);
});
