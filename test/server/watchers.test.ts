/** Streams that are open to callers without credentials: how many may be open, and what they cost others. */
import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { create, toBinary } from "@bufbuild/protobuf";
import { expect, onTestFinished, test, vi } from "vitest";
import { HealthCheckRequestSchema } from "../../src/gen/grpc/health/v1/health_pb.ts";
import { askHttp1, askHttp2, grpcFrame } from "../support/http2/http-call.ts";
import { scrape } from "../support/metrics/scrape.ts";
import { bearer, principalsFile } from "../support/processes/principals-file.ts";
import { runServer } from "../support/processes/running-server.ts";

/** The method itself, of any target. */
const original: (...rest: readonly unknown[]) => unknown = Object.getOwnPropertyDescriptor(
  EventTarget.prototype,
  "addEventListener",
)!.value;
const grpc = { "content-type": "application/grpc", te: "trailers" };
const json = { "content-type": "application/json" };

function openSession(url: string): ClientHttp2Session {
  const session = connect(url);
  session.on("error", () => undefined);
  onTestFinished(() => session.destroy());
  return session;
}

/** Opens one Watch, and resolves with its status of gRPC where it ended at once, else with `open`. */
async function openWatch(session: ClientHttp2Session, service = ""): Promise<string> {
  const path = "/grpc.health.v1.Health/Watch";
  const stream: ClientHttp2Stream = session.request({ ":path": path, ":method": "POST", ...grpc });
  stream.on("error", () => undefined);
  stream.end(grpcFrame(toBinary(HealthCheckRequestSchema, create(HealthCheckRequestSchema, { service }))));
  const [headers] = (await once(stream, "response")) as [Record<string, string>];
  stream.resume();
  return headers["grpc-status"] ?? "open";
}

async function openWatches(session: ClientHttp2Session, count: number): Promise<readonly string[]> {
  return Promise.all(Array.from({ length: count }, () => openWatch(session)));
}

// A connection could have as many as it may have streams, each of 44 KiB.
test("OPERATIONS 4: a connection may have ten Watch streams, and the eleventh is refused until one ends", async () => {
  const { url } = await runServer();
  const session = openSession(url);
  expect(await openWatches(session, 10)).toEqual(Array(10).fill("open"));
  expect(await openWatch(session)).toBe("8");
  expect(await openWatch(openSession(url))).toBe("open");
});

test("OPERATIONS 4: a network may have --network-streams-max of them on all of its connections, known services or not", async () => {
  const { url } = await runServer({ networkStreamsMax: "3" });
  expect(await openWatch(openSession(url))).toBe("open");
  expect(await openWatch(openSession(url), "no.Service")).toBe("open");
  const last = openSession(url);
  expect(await openWatch(last)).toBe("open");
  expect(await openWatch(openSession(url))).toBe("8");
  last.destroy();
  await expect.poll(() => openWatch(openSession(url))).toBe("open");
});

test("a stream of IDs counts for its network where no credentials are asked for, and not where a principal asks", async () => {
  const path = "/snowlane.v1.IdService/BatchNextIds";
  const body = grpcFrame(Buffer.from(JSON.stringify({ count: "1000000000" })));
  const stream = { path, headers: { "content-type": "application/connect+json" }, body };
  const begin = async (url: string, authorization?: string): Promise<ClientHttp2Stream> => {
    const more = authorization === undefined ? {} : { authorization };
    const opened = openSession(url).request({ ":path": path, ":method": "POST", ...stream.headers, ...more });
    opened.on("error", () => undefined);
    opened.end(body);
    await once(opened, "response");
    return opened;
  };
  const open = await runServer({ networkStreamsMax: "1" });
  await begin(open.url);
  expect((await askHttp2(open.url, stream)).body.toString()).toContain("QUOTA_EXCEEDED");
  const { path: principals } = principalsFile([{ name: "app", permissions: ["ids"] }]);
  const closed = await runServer({ networkStreamsMax: "1", principals });
  for (let count = 0; count < 3; count += 1) {
    const opened = await begin(closed.url, bearer("app").authorization);
    const [chunk] = (await once(opened, "data")) as [Buffer];
    expect(chunk.toString("latin1")).not.toContain("QUOTA_EXCEEDED");
  }
});

// Each call added a listener to one signal and took it away, at a cost that grew with the open streams.
test("OPERATIONS 5: the signals that all calls share have one listener, however many streams are open", async () => {
  const added: unknown[] = [];
  const spied = vi.spyOn(EventTarget.prototype, "addEventListener").mockImplementation(function (
    this: unknown,
    ...rest
  ) {
    added.push(this);
    return Reflect.apply(original, this, rest);
  });
  onTestFinished(() => spied.mockRestore());
  const { url } = await runServer();
  added.length = 0;
  const session = openSession(url);
  expect(await openWatches(session, 10)).toEqual(Array(10).fill("open"));
  for (let count = 0; count < 20; count += 1) {
    expect((await askHttp1(url, { path: "/snowlane.v1.IdService/GetInfo", body: "{}" })).status).toBe(200);
  }
  const counts = new Map<unknown, number>();
  for (const signal of added) counts.set(signal, (counts.get(signal) ?? 0) + 1);
  expect(Math.max(0, ...counts.values())).toBeLessThan(20);
});

// A caller could send any number of them.
test("OPERATIONS 13: requests that cannot be read count against the quota of calls, and are refused when it is used up", async () => {
  const { path: principals } = principalsFile([{ name: "app", permissions: ["ids", "observe"], callsPerSecond: 5 }]);
  const { url } = await runServer({ principals });
  const headers = { ...json, ...bearer("app") };
  const junk = { path: "/snowlane.v1.IdService/NextId", headers, body: '{"no' };
  const sendJunk = (count: number) => Promise.all(Array.from({ length: count }, () => askHttp1(url, junk)));
  const answers = await sendJunk(20);
  const countOf = (wanted: number): number => answers.filter(({ status }) => status === wanted).length;
  expect(countOf(400)).toBeGreaterThanOrEqual(5);
  expect(countOf(429)).toBeGreaterThan(5);
  expect(countOf(400) + countOf(429)).toBe(20);
  expect(answers.find(({ status }) => status === 429)!.body.toString()).toContain("QUOTA_EXCEEDED");
  const samples = await scrape(url, { headers: bearer("app") });
  expect(samples.get('snowlane_refused_total{why="quota"}')).toBeGreaterThan(5);
  expect(samples.get('snowlane_refused_total{why="undecodable"}')).toBeLessThan(15);
  // The quota comes back with the time, so that a slow machine may need some rounds. Two calls a second use up nothing.
  const callAfterJunk = async (): Promise<number> => {
    await sendJunk(10);
    return (await askHttp1(url, { ...junk, body: "{}" })).status;
  };
  await expect.poll(callAfterJunk, { interval: 500 }).toBe(429);
});
