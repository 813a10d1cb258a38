/** Requests whose header fields are too many or too large: proxies pass them on, so they harm only themselves. */
import { once } from "node:events";
import { connect } from "node:http2";
import { expect, test } from "vitest";
import { askHttp2, grpcFrame } from "../support/http2/http-call.ts";
import { runServer } from "../support/processes/running-server.ts";

const path = "/snowlane.v1.IdService/NextId";
const grpc = { "content-type": "application/grpc", te: "trailers" };
const large = { "x-large": "x".repeat(20_000) };

test("a gRPC call with a header list that is too large is RESOURCE_EXHAUSTED (it was reset)", async () => {
  const { url } = await runServer({ http2: "engine" });
  for (const headers of [
    { ...grpc, ...large },
    { ...grpc, ...many(130) },
  ]) {
    const answer = await askHttp2(url, { path, headers, body: grpcFrame(new Uint8Array(0)) });
    expect([answer.status, answer.headers["grpc-status"]]).toEqual([200, "8"]);
  }
});

test("any other call with a header list that is too large is 431 (it was reset)", async () => {
  const { url } = await runServer({ http2: "engine" });
  const json = { "content-type": "application/json" };
  for (const headers of [
    { ...json, ...large },
    { ...json, ...many(130) },
  ]) {
    expect((await askHttp2(url, { path, headers, body: "{}" })).status).toBe(431);
  }
});

test("with node:http2, too, a list of 20 kB is refused in the words of its protocol", async () => {
  const { url } = await runServer({ http2: "node" });
  const call = await askHttp2(url, { path, headers: { ...grpc, ...large }, body: grpcFrame(new Uint8Array(0)) });
  expect([call.status, call.headers["grpc-status"]]).toEqual([200, "8"]);
  expect((await askHttp2(url, { path, headers: { accept: "*/*", ...large }, body: "{}" })).status).toBe(431);
});

test("a shared connection outlives 600 requests with too many fields, which a proxy passes on (it was ended after some 400)", async () => {
  const { url, faults } = await runServer({ http2: "engine" });
  const session = connect(url).on("error", () => undefined);
  for (let index = 0; index < 600; index++) {
    const stream = session.request({ ":path": path, ":method": "POST", ...grpc, ...many(130) });
    stream.on("error", () => undefined).end();
    await once(stream.resume(), "close");
  }
  expect([session.closed, session.destroyed]).toEqual([false, false]);
  session.destroy();
  expect(faults).toEqual([]);
});

function many(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`x-${index}`, "y"]));
}
