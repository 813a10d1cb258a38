import { Writable } from "node:stream";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startProgress } from "./progress.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
afterEach(() => void vi.useRealTimers());

function setUp(isTTY: boolean) {
  const written: string[] = [];
  const stderr = Object.assign(
    new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        written.push(chunk.toString());
        done();
      },
    }),
    { isTTY },
  );
  let nowMs = 0;
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
  const pass = (ms: number): void => {
    nowMs += ms;
    vi.advanceTimersByTime(ms);
  };
  return { written, stderr, clock, pass };
}

test("a terminal sees how far the work is, after a second of quiet", () => {
  const { written, stderr, clock, pass } = setUp(true);
  const progress = startProgress(stderr, clock, 4_000);
  progress.add(1_000);
  pass(800);
  expect(written).toEqual([]);
  pass(200);
  expect(written.at(-1)).toBe("\r\u001b[K25 %  1,000 IDs/s  3 s left");
  progress.end();
  expect(written.at(-1)).toBe("\r\u001b[K");
  pass(10_000);
  expect(written).toHaveLength(2);
});

test("where the total is not known, the count is shown", () => {
  const { written, stderr, clock, pass } = setUp(true);
  const progress = startProgress(stderr, clock);
  progress.add(2_000_000);
  pass(2_000);
  expect(written.at(-1)).toBe("\r\u001b[K2,000,000  1,000,000 IDs/s");
  progress.end();
});

test("a message has its line for itself", () => {
  const { written, stderr, clock, pass } = setUp(true);
  const progress = startProgress(stderr, clock);
  progress.say("before\n");
  progress.add(1);
  pass(1_000);
  progress.say("after\n");
  progress.end();
  expect(written[0]).toBe("before\n");
  expect(written.slice(-3)).toEqual(["\r\u001b[K1  1 IDs/s", "\r\u001b[K", "after\n"]);
});

test("without a terminal only what is said is written", () => {
  const { written, stderr, clock, pass } = setUp(false);
  const progress = startProgress(stderr, clock, 10);
  progress.add(5);
  pass(5_000);
  progress.say("");
  progress.say("said\n");
  progress.end();
  expect(written).toEqual(["said\n"]);
});
