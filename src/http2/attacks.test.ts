/**
 * What is cheap for a client and dear for a server: each attack ends in bounded work. The memory and the neighbours are
 * measured in test/http2.
 */
import { expect, test } from "vitest";
import {
  data,
  echoHandler,
  frame,
  Harness,
  headers,
  indexedBlock,
  okBlock,
  ping,
  rawBlock,
  requestFields,
  rstStream,
  settings,
  uint32,
  windowUpdate,
} from "../../test/support/http2-wire.ts";
import { frameType } from "./frame.ts";
import type { StreamHandler } from "./stream.ts";

const silent: StreamHandler = {};

interface Attack {
  readonly name: string;
  readonly first?: readonly Buffer[];
  /** The bytes of round `index`. */
  readonly round: (index: number) => Buffer;
  /** After how many rounds at most the connection must be over. */
  readonly roundsMax: number;
  readonly end: string;
}

const id = (index: number): number => 2 * index + 1;
const bomb = frame(
  frameType.headers,
  5,
  1,
  Buffer.concat([rawBlock(requestFields), indexedBlock([["x", "y".repeat(4_000)]])]),
);

const attacks: readonly Attack[] = [
  {
    name: "rapid reset (CVE-2023-44487)",
    round: (index) => Buffer.concat([headers(id(index), "body"), rstStream(id(index))]),
    roundsMax: 401,
    end: "enhanceYourCalm",
  },
  {
    name: "resets that the server is made to send (CVE-2025-8671)",
    round: (index) => Buffer.concat([headers(id(index), "body"), windowUpdate(id(index), 0)]),
    roundsMax: 401,
    end: "enhanceYourCalm",
  },
  {
    name: "CONTINUATION flood of empty frames (CVE-2024-27316)",
    first: [frame(frameType.headers, 1, 1, rawBlock(requestFields))],
    round: () => frame(frameType.continuation, 0, 1),
    roundsMax: 9,
    end: "enhanceYourCalm",
  },
  {
    name: "CONTINUATION flood of full frames",
    first: [frame(frameType.headers, 1, 1, rawBlock(requestFields))],
    round: () => frame(frameType.continuation, 0, 1, Buffer.alloc(16_384, 0x82)),
    roundsMax: 2,
    end: "enhanceYourCalm",
  },
  {
    name: "HPACK bomb: 64 MB in 16 kB",
    first: [bomb],
    round: (index) => frame(frameType.headers, 5, id(index + 1), Buffer.alloc(16_000, 0xbe)),
    roundsMax: 1,
    end: "compressionError",
  },
  {
    name: "HPACK bombs of 80 kB a request",
    first: [bomb],
    round: (index) =>
      frame(frameType.headers, 5, id(index + 1), Buffer.concat([rawBlock(requestFields), Buffer.alloc(20, 0xbe)])),
    roundsMax: 401,
    end: "enhanceYourCalm",
  },
  {
    name: "table size updates without end",
    round: (index) => frame(frameType.headers, 5, id(index), Buffer.alloc(16_384, 0x20)),
    roundsMax: 401,
    end: "enhanceYourCalm",
  },
  {
    name: "PING flood",
    round: () => Buffer.concat(Array.from({ length: 100 }, () => ping())),
    roundsMax: 401,
    end: "enhanceYourCalm",
  },
  {
    name: "SETTINGS flood that moves every window",
    round: (index) => settings([4, index % 2 === 0 ? 0 : 65_535]),
    roundsMax: 201,
    end: "enhanceYourCalm",
  },
  {
    name: "PRIORITY flood",
    round: () => frame(frameType.priority, 0, 1, Buffer.concat([uint32(0), Buffer.of(1)])),
    roundsMax: 4_001,
    end: "enhanceYourCalm",
  },
  {
    name: "flood of DATA without bytes",
    first: [headers(1, "body")],
    round: () => data(1, 0),
    roundsMax: 4_001,
    end: "enhanceYourCalm",
  },
  { name: "flood of unknown frames", round: () => frame(77, 0, 0), roundsMax: 4_001, end: "enhanceYourCalm" },
  {
    name: "window overflow",
    round: () => windowUpdate(0, 0x7fffffff),
    roundsMax: 1,
    end: "flowControlError",
  },
];

test.each(attacks)("$name ends the connection", ({ first = [], round, roundsMax, end }) => {
  const harness = new Harness({ onRequest: () => silent });
  harness.exchange(...first);
  let last: readonly string[] = [];
  let rounds = 0;
  for (; harness.connection.state === "open" && rounds <= roundsMax; rounds++) last = harness.exchange(round(rounds));
  expect(last.at(-1)).toMatch(new RegExp(`^goAway \\d+ ${end}$`));
  expect(rounds).toBeLessThanOrEqual(roundsMax);
  expect(harness.connection.openCount).toBe(0);
});

test("a busy client may cancel as many requests as it completes, for ever", () => {
  const harness = new Harness({ onRequest: (stream) => (stream.id % 4 === 1 ? silent : echoHandler()) });
  harness.exchange(settings([4, 0x7fffffff]), windowUpdate(0, 0x7fff0000));
  for (let index = 0; index < 20_000; index += 2) {
    harness.exchange(headers(id(index), "end"), headers(id(index + 1), "end"), rstStream(id(index)));
    harness.events.length = 0;
    harness.streams.length = 0;
  }
  expect(harness.connection.state).toBe("open");
});

test("a proxy whose deadline runs out for all of its requests at once, every second, is served", () => {
  const harness = new Harness({ onRequest: () => silent });
  for (let second = 0, next = 0; second < 60; second++, next += 100) {
    const ids = Array.from({ length: 100 }, (_, index) => id(next + index));
    harness.exchange(...ids.map((streamId) => headers(streamId, "end")), ...ids.map((streamId) => rstStream(streamId)));
    harness.nowMs += 1_000;
  }
  expect(harness.connection.state).toBe("open");
});

test("windows of one byte cost a frame a byte, and no more", () => {
  const harness = new Harness({ onRequest: () => echoHandler(30_000) });
  harness.exchange(settings([4, 0]), ...Array.from({ length: 100 }, (_, index) => headers(id(index), "end")));
  for (let round = 0; round < 50; round++) {
    expect(harness.exchange(...Array.from({ length: 100 }, (_, index) => windowUpdate(id(index), 1)))).toHaveLength(
      100,
    );
  }
});

test("a client that reads nothing makes nobody write more than the output may hold", () => {
  let written = 0;
  const more = (stream: Parameters<NonNullable<StreamHandler["onEnd"]>>[0]): void => {
    while (stream.write(Buffer.alloc(32_000))) written += 32_000;
    written += 32_000;
  };
  const harness = new Harness({
    onRequest: () => ({
      onEnd: (stream) => {
        stream.respond(okBlock, "body");
        more(stream);
      },
      onWritable: more,
    }),
  });
  harness.exchange(settings([4, 0x7fffffff]), windowUpdate(0, 0x7fff0000));
  harness.connection.setWritable(false);
  const requests = Array.from({ length: 100 }, (_, index) => headers(id(index), "end"));
  harness.connection.receive(Buffer.concat(requests), harness.nowMs);
  expect(written).toBe(100 * 32_000);
  harness.wait(29_000);
  expect(written).toBe(100 * 32_000);
  harness.wait(2_000);
  expect(harness.connection.state).toBe("dead");
});
