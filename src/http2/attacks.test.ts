/**
 * What is cheap for a client and dear for a server: each attack ends in bounded work. test/http2/attacks.test.ts does
 * the same to a server on a socket, and looks at its memory and its other callers.
 */
import { expect, test } from "vitest";
import { floods } from "../../test/support/http2-floods.ts";
import {
  echoHandler,
  Harness,
  headers,
  okBlock,
  rstStream,
  settings,
  windowUpdate,
} from "../../test/support/http2-wire.ts";
import type { StreamHandler } from "./stream.ts";

const silent: StreamHandler = {};
const id = (index: number): number => 2 * index + 1;

test.each(floods)("$name ends the connection", ({ first = [], round, roundsMax, end }) => {
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
