import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { askHttp1, type HttpAnswer } from "../../../test/support/http2/http-call.ts";
import type { CallHandler } from "../call/call-stream.ts";
import { CallCounter } from "./call-counter.ts";
import { Http1Call } from "./http1-call.ts";

/** Asks a server whose only call is served by the handler. */
async function ask(handlerOf: (call: Http1Call) => CallHandler<Http1Call>) {
  const faults: unknown[] = [];
  const calls = new CallCounter();
  const options = {
    calls,
    stallTimeoutMs: 30_000,
    trustedProxies: undefined,
    onFault: (error: unknown) => faults.push(error),
  };
  const server = createServer((request, response) => {
    new Http1Call(request, response, options).begin(handlerOf);
  });
  onTestFinished(() => void server.close());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const answer = await askHttp1(url, { path: "/", body: "{}" }).catch((error: Error) => error);
  await calls.drain();
  return { answer, faults };
}

const head = { status: 200, fields: ["content-type", "text/plain"] };

test("a handler is told to write on where it was told to wait, when all has left, and nowhere else", async () => {
  const events: string[] = [];
  const hasLeft = Promise.withResolvers<void>();
  /** Long enough for an event that must not come. */
  const someTurns = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn++) await nextTurn();
  };
  const answer = async (call: Http1Call): Promise<void> => {
    call.respond(head);
    for (let left = 3; left > 0; left--) events.push(`small ${call.write(Buffer.from("a"))}`);
    await someTurns();
    events.push(`large ${call.write(Buffer.alloc(100_000, "b"))}`);
    await hasLeft.promise;
    await someTurns();
    events.push(`small ${call.write(Buffer.from("c"))}`);
    await someTurns();
    call.end();
  };
  const { answer: received } = await ask((call) => ({
    onEnd: () => void answer(call),
    onWritable: () => {
      events.push("onWritable");
      hasLeft.resolve();
    },
  }));
  expect(String((received as HttpAnswer).body)).toBe(`aaa${"b".repeat(100_000)}c`);
  expect(events).toEqual(["small true", "small true", "small true", "large false", "onWritable", "small true"]);
});

test("a response that is whole in one turn has its length, and leaves in one piece", async () => {
  const { answer } = await ask((call) => ({
    onEnd: () => {
      call.respond({ status: 200, fields: [...head.fields, "content-length", "3"] });
      call.write(Buffer.from("ab"));
      call.write(Buffer.from("c"));
      call.end();
    },
  }));
  expect(answer).toMatchObject({ headers: { "content-length": "3" }, body: Buffer.from("abc") });
});

test.each(["onData", "onEnd", "onWritable"] as const)(
  "what %s throws ends the connection, not the process",
  async (at) => {
    const fault = new Error("ours");
    const { answer, faults } = await ask((call) => ({
      onEnd: () => {
        call.respond(head);
        call.write(Buffer.alloc(100_000));
      },
      [at]: () => {
        throw fault;
      },
    }));
    expect(answer).toBeInstanceOf(Error);
    expect(faults).toEqual([fault]);
  },
);
