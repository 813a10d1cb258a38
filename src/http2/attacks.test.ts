/**
 * Attacks are cheap for a client and expensive for a server: each of them ends in bounded work.
 * test/http2/attacks.test.ts does the same to a server on a socket, and looks at its memory and its other callers.
 */
import { expect, test } from "vitest";
import { floods } from "../../test/support/http2/http2-floods.ts";
import {
  data,
  echoHandler,
  Harness,
  headers,
  okBlock,
  rstStream,
  settings,
  windowUpdate,
} from "../../test/support/http2/http2-wire.ts";
import { errorCode } from "./error-code.ts";
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

test.each<[string, StreamHandler]>([
  ["reset by their handlers", { onEnd: (stream) => stream.reset(errorCode.internalError) }],
  ["reset by their handlers later", { onEnd: (stream) => queueMicrotask(() => stream.reset(errorCode.internalError)) }],
  [
    "whose handlers throw",
    {
      onEnd: () => {
        throw new Error("a fault");
      },
    },
  ],
])("requests %s cost their client nothing, however many", async (_name, handler) => {
  const harness = new Harness({ onRequest: () => handler });
  const answers: string[] = [];
  for (let index = 0; index < 1_000; index++) {
    answers.push(...harness.exchange(headers(id(index), "end")));
    await Promise.resolve();
  }
  answers.push(...harness.output());
  expect(answers.at(-1)).toMatch(/^goAway \d+ enhanceYourCalm$/);
  expect(answers.filter((line) => line.startsWith("rstStream"))).toHaveLength(401);
});

test("clients that send a prefix, or a short message, in frames of their own are not taken for a flood", () => {
  const harness = new Harness();
  for (let index = 0; index < 5_000; index++) {
    harness.exchange(headers(id(index), "body"), data(id(index), 5), data(id(index), 50), data(id(index), 0, "end"));
  }
  expect(harness.connection.state).toBe("open");
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

test("a connection whose calls expire a thousand times a second is read more slowly (it was ended)", () => {
  const harness = new Harness({ onRequest: () => silent });
  let cancels = 0;
  for (const endMs = harness.nowMs + 60_000; harness.nowMs < endMs; harness.nowMs += 10) {
    if (harness.connection.restMs > 0) {
      harness.connection.advance(harness.nowMs);
      continue;
    }
    for (let count = 0; count < 30; count++, cancels++) {
      harness.exchange(headers(id(cancels), "end"), rstStream(id(cancels)));
    }
    harness.events.length = 0;
    harness.streams.length = 0;
  }
  expect(harness.connection.state).toBe("open");
  expect(cancels).toBeGreaterThan(61_000);
  expect(cancels).toBeLessThan(2_000 + 60_000 + 100);
});

test("a client that sends DATA behind resets of its own, as grpc-java does, is not cut off", () => {
  const harness = new Harness({ onRequest: () => silent });
  let answered = 0;
  for (let index = 0; index < 2_000; index++) {
    const answer = harness.exchange(headers(id(index), "body"), rstStream(id(index)), data(id(index), 5, "end"));
    answered += answer.filter((line) => line.startsWith("rstStream")).length;
    harness.nowMs += 10;
  }
  expect(harness.connection.state).toBe("open");
  expect(answered).toBe(2_000);
});

test("a flood of DATA behind resets is read more slowly", () => {
  const harness = new Harness({ onRequest: () => silent });
  for (let index = 0; index < 2_000; index++) {
    harness.exchange(headers(id(index), "body"), rstStream(id(index)), data(id(index), 5, "end"));
  }
  expect(harness.connection.state).toBe("open");
  expect(harness.connection.restMs).toBeGreaterThan(1_000);
});

test("a request that completes does not pay for one that the server is made to reset (it did)", () => {
  const harness = new Harness();
  let resets = 0;
  for (let index = 0; harness.connection.state === "open" && index < 10_000; index += 2) {
    harness.exchange(headers(id(index), "end"));
    const answer = harness.exchange(headers(id(index + 1), "body"), windowUpdate(id(index + 1), 0));
    resets += answer.filter((line) => line.startsWith("rstStream")).length;
  }
  expect(resets).toBe(400);
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

test("OPERATIONS 19: WINDOW_UPDATEs have a rate, beyond those for what a client was sent (they had none)", () => {
  const harness = new Harness({ limits: { windowUpdatesPerSecond: 100 }, onRequest: () => echoHandler(31) });
  harness.exchange(settings([4, 0]), headers(1, "end"));
  for (let count = 0; count < 30; count++) expect(harness.exchange(windowUpdate(1, 1))).toHaveLength(1);
  const updates = (count: number) => Array.from({ length: count }, () => windowUpdate(0, 1));
  expect(harness.exchange(...updates(200))).toEqual([]);
  harness.wait(1_000);
  expect(harness.exchange(...updates(100))).toEqual([]);
  expect(harness.exchange(...updates(100)).at(-1)).toMatch(/^goAway \d+ enhanceYourCalm$/);
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
