import { expect, test } from "vitest";
import {
  data,
  echoHandler,
  frame,
  Harness,
  headers,
  okBlock,
  ping,
  rawBlock,
  requestFields,
  settings,
  windowUpdate,
} from "../../test/support/http2/http2-wire.ts";
import { frameFlag, frameType, preface } from "./frame.ts";
import type { StreamHandler } from "./stream.ts";

const silent: StreamHandler = {};

test("a client that never says hello is cut", () => {
  const harness = new Harness({ greeted: false });
  harness.output();
  expect(harness.exchange(preface)).toEqual([]);
  expect(harness.wait(9_500)).toEqual([]);
  expect(harness.wait(500)).toEqual(["goAway 0 settingsTimeout"]);
});

test("a frame that does not end is cut, a client that is busy with many is not", () => {
  const harness = new Harness({ onRequest: () => silent });
  const half = data(1, 1_000);
  harness.exchange(headers(1, "body"), half.subarray(0, 100));
  for (let second = 0; second < 20; second++) {
    harness.exchange(half.subarray(100), half.subarray(0, 100));
    expect(harness.wait(1_000)).toEqual([]);
  }
  harness.exchange(half.subarray(100, 101));
  expect(harness.wait(10_500)).toEqual(["goAway 1 enhanceYourCalm"]);
});

test("a header block that drips frame by frame is cut", () => {
  const harness = new Harness();
  harness.exchange(frame(frameType.headers, 0, 1, rawBlock(requestFields)));
  harness.wait(5_000);
  harness.exchange(frame(frameType.continuation, 0, 1));
  expect(harness.wait(5_500)).toEqual(["goAway 0 enhanceYourCalm"]);
});

test("a body that does not come is cut, unless the response has begun", () => {
  const harness = new Harness({ onRequest: () => silent });
  harness.exchange(headers(1, "body"), headers(3, "body"), headers(5, "end"));
  harness.streams[1]!.respond(okBlock, "body");
  harness.output();
  harness.wait(50_000);
  harness.exchange(data(1, 1));
  expect(harness.wait(10_500).filter((line) => !line.startsWith("ping"))).toEqual(["rstStream 1 cancel"]);
  expect(harness.events.at(-1)).toBe("abort 1 cancel");
  expect(harness.connection.openCount).toBe(2);
});

test("a reader that takes nothing is asked to go, in its own way if the handler has one", () => {
  const polite: StreamHandler = { ...echoHandler(100), onStall: (stream) => stream.dropQueued() };
  const deaf: StreamHandler = { ...echoHandler(100), onStall: () => undefined };
  const rude = echoHandler(100);
  const harness = new Harness({ onRequest: (stream) => [polite, rude, deaf][(stream.id - 1) / 2]! });
  harness.exchange(settings([4, 50]), headers(1, "end"), headers(3, "end"), headers(5, "end"));
  expect(harness.wait(29_000)).toEqual([]);
  expect(harness.wait(1_500)).toEqual(["data 1 0 end", "rstStream 3 refusedStream"]);
  expect(harness.events.slice(-3)).toEqual(["stall 1", "abort 3 refusedStream", "stall 5"]);
  expect(harness.wait(4_000)).toEqual([]);
  expect(harness.wait(1_000)).toEqual(["rstStream 5 refusedStream"]);
});

test("a reader that stalls gets its error first, though the looks are further apart than the timeout is long", () => {
  const stalls: number[] = [];
  const deaf: StreamHandler = { ...echoHandler(100), onStall: (stream) => stalls.push(stream.id) };
  const limits = { stallTimeoutMs: 100, stallGraceMs: 5_000 };
  const harness = new Harness({ onRequest: () => deaf, limits });
  harness.exchange(settings([4, 50]), headers(1, "end"));
  expect(harness.wait(4_000)).toEqual([]);
  expect(stalls).toEqual([1]);
  expect(harness.wait(2_500)).toEqual(["rstStream 1 refusedStream"]);
});

test("a reader that takes a byte now and then is asked to go (it held its response for ever)", () => {
  const harness = new Harness({ onRequest: () => echoHandler(100_000) });
  harness.exchange(settings([4, 1]), headers(1, "end"));
  const taken: string[] = [];
  for (let round = 0; round < 3; round++) {
    taken.push(...harness.wait(20_000), ...harness.exchange(windowUpdate(1, 1)));
  }
  expect(taken.filter((line) => line !== "ping are you?")).toEqual(["data 1 1", "rstStream 1 refusedStream"]);
});

test("a reader that takes a frame in each stall timeout, or all that waits, is not stalled", () => {
  const harness = new Harness({ onRequest: (stream) => echoHandler(stream.id === 1 ? 100_000 : 4) });
  harness.exchange(settings([4, 1]), windowUpdate(0, 100_000), headers(1, "end"), headers(3, "end"));
  for (let round = 0; round < 5; round++) {
    harness.wait(15_000);
    expect(harness.exchange(windowUpdate(1, 8_192))).toContain("data 1 8192");
    harness.wait(14_000);
    expect(harness.exchange(windowUpdate(1, 8_192))).toContain("data 1 8192");
    if (round === 0) expect(harness.exchange(windowUpdate(3, 3)).join()).toContain("data 3 3");
  }
});

test("a socket that takes nothing is given up, one that takes a little now and then is not", () => {
  const harness = new Harness();
  harness.connection.setWritable(false);
  for (let round = 0; round < 5; round++) {
    harness.wait(20_000);
    harness.connection.setWritable(true);
    harness.connection.setWritable(false);
  }
  expect(harness.connection.state).toBe("open");
  harness.wait(31_000);
  expect(harness.connection.state).toBe("dead");
});

test("an idle connection is drained, a busy one that is idle at every look is not", () => {
  const harness = new Harness({ limits: { keepAliveIntervalMs: Infinity } });
  for (let round = 0; round < 10; round++) {
    harness.exchange(headers(1 + 2 * round, "end"));
    expect(harness.wait(300_000)).toEqual([]);
  }
  expect(harness.wait(307_000)).toEqual(["goAway 2147483647 noError", "ping draining", "goAway 19 noError"]);
  expect(harness.connection.state).toBe("ended");
});

test("a silent client is asked whether it is there, and given up if it is not", () => {
  const harness = new Harness({ onRequest: () => silent });
  harness.exchange(headers(1, "end"));
  expect(harness.wait(60_000)).toEqual(["ping are you?"]);
  harness.exchange(ping("are you?", frameFlag.ack));
  expect(harness.wait(59_000)).toEqual([]);
  expect(harness.wait(1_000)).toEqual(["ping are you?"]);
  harness.wait(20_000);
  expect(harness.connection.state).toBe("dead");
  expect(harness.events.at(-1)).toBe("abort 1 cancel");
});

test("an old connection is drained by its age, and not before nine tenths of it", () => {
  const harness = new Harness({ onRequest: () => silent, limits: { ageMaxMs: 20_000 } });
  harness.exchange(headers(1, "end"));
  expect(harness.wait(17_500)).toEqual([]);
  expect(harness.wait(2_500)).toEqual(["goAway 2147483647 noError", "ping draining"]);
});
