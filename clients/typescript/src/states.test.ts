import { expect, onTestFinished, test } from "vitest";
import { FakeSource } from "../test/fake-source.ts";
import { connect, errorOf, startServer } from "../test/scripted-client.ts";
import { TcpProxy } from "../../../test/support/processes/tcp-proxy.ts";
import { SnowlaneError } from "./errors.ts";
import { FakeClock } from "./fake-clock.ts";
import { createNodeClient } from "./node.ts";
import type { StateEvent } from "./observer.ts";
import { PrefetchBuffer } from "./prefetch-buffer.ts";
import { States } from "./states.ts";

/** Records what is reported and logged. */
function record() {
  const [events, lines]: [StateEvent[], string[]] = [[], []];
  const take =
    (level: string) =>
    (line: string): void =>
      void lines.push(`${level} ${line}`);
  return {
    events,
    lines,
    observer: { onState: (event: StateEvent) => void events.push(event) },
    logger: { info: take("info"), warn: take("warn"), error: take("error") },
  };
}

test("the log gets a line of one kind a minute, and the observer each of them", async () => {
  const { events, lines, observer, logger } = record();
  const clock = new FakeClock();
  const states = new States(clock, observer, logger);
  states.tell({ state: "failing", reason: "UNREACHABLE", endpoint: "http://a" });
  states.tell({ state: "working", durationMs: 1_500.4 });
  await clock.advance(59_999);
  states.tell({ state: "failing" });
  await clock.advance(1);
  states.tell({ state: "failing" });
  expect(lines).toEqual([
    "warn snowlane: refills fail reason=UNREACHABLE endpoint=http://a",
    "info snowlane: refills work again durationMs=1500",
    "warn snowlane: refills fail",
  ]);
  expect(events).toHaveLength(4);
});

test("that refills fail is reported at the third in a row or after a second, and that they work again is reported once", async () => {
  const { events, lines, observer, logger } = record();
  const clock = new FakeClock();
  const source = new FakeSource(clock);
  const buffer = new PrefetchBuffer(source, { clock, observer, logger, random: () => 0.5, timeoutMs: 100_000 });
  onTestFinished(() => buffer.close());
  source.answer = () => {
    throw new SnowlaneError("STORE_UNAVAILABLE", "It is away.", { code: "UNAVAILABLE" });
  };
  const waiting = buffer.nextId();
  await clock.advance(0);
  await clock.advance(150);
  expect([buffer.stats().refillFailures, events]).toEqual([2, []]);
  await clock.advance(300);
  expect([buffer.stats().refillFailures, events]).toEqual([3, [{ state: "failing", reason: "STORE_UNAVAILABLE" }]]);
  await clock.advance(2_000);
  source.answer = undefined;
  await clock.advance(2_000);
  expect(await waiting).toBe(1n);
  expect(events).toMatchObject([{ state: "failing" }, { state: "working", durationMs: expect.any(Number) }]);
  expect(lines).toHaveLength(2);
});

test("a client tells that it moved", async () => {
  const { events, observer } = record();
  const servers = [await startServer(), await startServer()];
  const client = connect(servers, { observer, random: () => 0.4 });
  await client.nextId();
  await servers[0]?.kill();
  await client.nextId();
  expect(events).toEqual([{ state: "moved", reason: "UNREACHABLE", endpoint: servers[1]?.url }]);
});

test("a client tells of a server of another deployment", async () => {
  const { events, lines, observer, logger } = record();
  const server = await startServer();
  let deployment = 1;
  server.handlers = { nextId: () => ({ id: 1n, deployment }) };
  const client = connect([server], { observer, logger, retryMax: 0 });
  await client.nextId();
  deployment = 2;
  await errorOf(client.nextId());
  expect(events).toEqual([{ state: "mismatch", reason: "DEPLOYMENT_MISMATCH", endpoint: server.url }]);
  expect(lines[0]).toMatch(/^error snowlane: /);
});

test("a client tells that it replaced a connection", async () => {
  const { events, observer } = record();
  const server = await startServer();
  const proxy = await TcpProxy.start(Number(new URL(server.url).port));
  onTestFinished(() => proxy.stop());
  const url = `http://127.0.0.1:${proxy.port}`;
  const client = createNodeClient({ endpoints: [url], observer, attemptTimeoutMs: 1_000, timeoutMs: 20_000 });
  onTestFinished(() => client.close());
  await client.nextId();
  proxy.swallow();
  await client.nextId();
  expect(events).toEqual([{ state: "replaced", endpoint: url }]);
});
