import type { UniversalServerRequest } from "@connectrpc/connect/protocol";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  data,
  type FieldPairs,
  Harness,
  headers,
  rstStream,
  settings,
} from "../../../test/support/http2/http2-wire.ts";
import { FairQueue } from "./fair-queue.ts";
import { serveStream } from "./engine-exchange.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const fields: FieldPairs = [
  [":method", "POST"],
  [":scheme", "http"],
  [":path", "/test.Service/Other"],
  [":authority", "localhost"],
  ["content-type", "application/grpc"],
  ["te", "trailers"],
];
const stallTimeoutMs = 1_000;

/** Chunks until the call is told to end. */
async function* chunks(signal: AbortSignal): AsyncGenerator<Uint8Array> {
  while (!signal.aborted) yield Buffer.alloc(500);
}

/** A call whose reader took 1,000 bytes and then nothing for the stall timeout. */
async function stalledCall(): Promise<{ harness: Harness; request: UniversalServerRequest }> {
  const requests: UniversalServerRequest[] = [];
  const onFault = (error: unknown): never => {
    throw error;
  };
  const harness = new Harness({
    onRequest: (stream) =>
      serveStream(stream, {
        dispatch: async (request) => {
          requests.push(request);
          return { status: 200, header: new Headers(), body: chunks(request.signal), trailer: new Headers() };
        },
        stallTimeoutMs,
        expensiveCalls: new FairQueue(),
        onFault,
      }),
    limits: { stallTimeoutMs },
  });
  harness.exchange(settings([4, 1_000]), headers(1, "end", fields));
  await vi.advanceTimersByTimeAsync(0);
  harness.output();
  harness.wait(stallTimeoutMs + 500);
  return { harness, request: requests[0]! };
}

test("a call that is cancelled before its turn comes is never begun; others are begun, and read on, in turns", async () => {
  const dispatched: string[] = [];
  const expensiveCalls = new FairQueue();
  const harness = new Harness({
    onRequest: (stream) =>
      serveStream(stream, {
        dispatch: async ({ url, body }) => {
          dispatched.push(url);
          const chunks: Uint8Array[] = [];
          for await (const chunk of body as AsyncIterable<Uint8Array>) chunks.push(chunk);
          dispatched.push(Buffer.concat(chunks).toString());
          return { status: 204 };
        },
        stallTimeoutMs,
        expensiveCalls,
        onFault: (error) => {
          throw error;
        },
      }),
  });
  harness.exchange(headers(1, "body", fields), data(1, 1_000), headers(3, "body", fields), rstStream(1));
  expect(dispatched).toEqual([]);
  await vi.advanceTimersToNextTimerAsync();
  expect(dispatched).toEqual(["http://localhost/test.Service/Other"]);
  harness.exchange(data(3, Buffer.from("a")), data(3, Buffer.from("b"), "end"));
  await Promise.resolve();
  expect(dispatched).toHaveLength(1);
  await vi.advanceTimersToNextTimerAsync();
  expect(dispatched.at(-1)).toBe("ab");
  expect(vi.getTimerCount()).toBe(0);
});

test("a body in frames of one byte is read in few chunks (each frame cost a buffer and a turn of the reader)", async () => {
  const sizes: number[] = [];
  const harness = new Harness({
    onRequest: (stream) =>
      serveStream(stream, {
        dispatch: async ({ body }) => {
          for await (const chunk of body as AsyncIterable<Uint8Array>) sizes.push(chunk.length);
          return { status: 204 };
        },
        stallTimeoutMs,
        expensiveCalls: new FairQueue(),
        onFault: (error) => {
          throw error;
        },
      }),
  });
  const bytes = (count: number): readonly Buffer[] => Array.from({ length: count }, () => data(1, 1));
  harness.exchange(headers(1, "body", fields), ...bytes(3_000));
  await vi.advanceTimersToNextTimerAsync();
  harness.exchange(...bytes(900), data(1, 0, "end"));
  await vi.advanceTimersToNextTimerAsync();
  expect(sizes).toEqual([3_000, 900]);
});

test("a reader that stalled is cut off after the time in which it may fetch the error, and holds no timer", async () => {
  const { harness, request } = await stalledCall();
  expect(request.signal.aborted).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
  harness.wait(4_000);
  expect(harness.streams[0]!.isClosed).toBe(false);
  expect(harness.wait(1_000)).toEqual(["rstStream 1 refusedStream"]);
});
