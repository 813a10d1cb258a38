import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { grpcFrame } from "../support/http2/http-call.ts";
import { nextIdFields } from "../support/http2/http2-floods.ts";
import { RawClient } from "../support/http2/http2-raw-client.ts";
import { data, headers, hello } from "../support/http2/http2-wire.ts";
import { runServer, temporaryFolder } from "../support/processes/running-server.ts";
import { startSnowlane } from "../support/processes/snowlane-process.ts";

const http2 = process.env["SNOWLANE_TEST_HTTP2"] ?? "engine";
/** More than come in at once at the rate below. */
const clientCount = 80;
const question = [hello, headers(1, "body", nextIdFields), data(1, grpcFrame(new Uint8Array(0)), "end")];

test("connections that wait while a server stands still are served, though it is told to end", async () => {
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
  server.child.kill("SIGSTOP");
  // The system takes them: their requests are sent before the server has seen them.
  const port = Number(server.address.split(":")[1]);
  const clients = await Promise.all(Array.from({ length: clientCount }, () => RawClient.connect(port)));
  for (const client of clients) client.send(...question);
  const ended = server.stop("SIGTERM");
  server.child.kill("SIGCONT");
  for (const client of clients) {
    const lines = await client.until((lines) =>
      lines.some((line) => line.startsWith("headers 1 ") && line.endsWith(" end")),
    );
    expect(lines).toContainEqual(expect.stringMatching(/^headers 1 .*grpc-status=0.* end$/));
    client.destroy();
  }
  expect(await ended).toBe(0);
});

test("one address held every connection that is allowed, and callers from another were not served", async () => {
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
    const lines = await client.until((lines) => lines.some((line) => line.endsWith(" end")));
    expect(lines).toContainEqual(expect.stringMatching(/^headers 1 .*grpc-status=0.* end$/));
  }
  await expect.poll(() => crowd.filter(({ isClosed }) => isClosed).length).toBe(10);
});
