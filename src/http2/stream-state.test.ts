import { expect, test } from "vitest";
import { afterRequestEnd, afterResponseEnd, afterResponseHead, streamStates } from "./stream-state.ts";

const { open, halfClosed, closed } = streamStates;
const trailers = Buffer.of(1);

test("the end of a request leaves its response where it is", () => {
  expect(afterRequestEnd(open.awaited)).toBe(halfClosed.awaited);
  expect(afterRequestEnd(open.body)).toBe(halfClosed.body);
  const ending = afterResponseEnd(open.body, trailers);
  expect(afterRequestEnd(ending)).toEqual({ kind: "halfClosed", response: "ending", trailers });
});

test("a step of the response leaves its request where it is", () => {
  expect(afterResponseHead(open.awaited)).toBe(open.body);
  expect(afterResponseHead(halfClosed.awaited)).toBe(halfClosed.body);
  expect(afterResponseEnd(open.body, undefined)).toEqual({ kind: "open", response: "ending", trailers: undefined });
  expect(afterResponseEnd(halfClosed.body, trailers)).toEqual({ kind: "halfClosed", response: "ending", trailers });
});

test("a closed stream stays closed", () => {
  expect([afterRequestEnd(closed), afterResponseHead(closed), afterResponseEnd(closed, trailers)]).toEqual([
    closed,
    closed,
    closed,
  ]);
});
