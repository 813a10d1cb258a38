/** FIELD F1 on the server's side: a guard that is configured is seen to act. */
import { once } from "node:events";
import { connect } from "node:net";
import { connect as connectHttp2 } from "node:http2";
import { expect, onTestFinished, test } from "vitest";
import { grpcFrame } from "../support/http2/http-call.ts";
import { scrape } from "../support/metrics/scrape.ts";
import { TcpProxy } from "../support/processes/tcp-proxy.ts";
import { runServer } from "../support/processes/running-server.ts";

test("a connection that has gone dark is closed by the server's PING, with its streams, and one that answers stays", async () => {
  const { server, url } = await runServer({ http2Limits: "keepAliveIntervalMs=1000,keepAliveTimeoutMs=1000" });
  const proxy = await TcpProxy.start(server.address.port);
  onTestFinished(() => proxy.stop());
  const open = async (port: number): Promise<void> => {
    const socket = connect(port, "127.0.0.1");
    const session = connectHttp2("http://localhost", { createConnection: () => socket });
    session.on("error", () => undefined);
    onTestFinished(() => session.destroy());
    const head = { ":method": "POST", ":path": "/grpc.health.v1.Health/Watch", "content-type": "application/grpc" };
    const stream = session.request(head);
    stream.on("error", () => undefined);
    stream.end(grpcFrame(new Uint8Array(0)));
    await once(stream, "data");
  };
  await open(server.address.port);
  await open(proxy.port);
  const streams = async (): Promise<number | undefined> => (await scrape(url)).get("snowlane_streams");
  expect(await streams()).toBe(2);
  proxy.swallow();
  await expect.poll(streams).toBe(1);
});
