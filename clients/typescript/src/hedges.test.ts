import { Code } from "@connectrpc/connect";
import { expect, onTestFinished, test } from "vitest";
import { faultError, type ScriptedIdServer } from "../../../test/support/processes/scripted-id-server.ts";
import { TcpProxy } from "../../../test/support/processes/tcp-proxy.ts";
import { connect, errorOf, startServer } from "../test/scripted-client.ts";
import { FakeClock } from "./fake-clock.ts";
import { firstOfTwo, Hedges } from "./hedges.ts";
import type { RefillEvent } from "./observer.ts";

const patient = { attemptTimeoutMs: 12_000, timeoutMs: 60_000 };

/** Lets a server's reservations wait for as long as the test lasts; counts them. */
function hold(server: ScriptedIdServer): { count: number } {
  const held = { count: 0 };
  server.handlers = {
    ...server.handlers,
    reserveIds: () => {
      held.count++;
      return new Promise(() => {});
    },
  };
  return held;
}

test("H is four mean round trips, within its bounds, and more where a connection must be opened", () => {
  const hedges = new Hedges(new FakeClock(), 2_000);
  expect([hedges.delayMs(false), hedges.delayMs(true)]).toEqual([500, 500]);
  hedges.noteAnswer(1);
  expect([hedges.delayMs(false), hedges.delayMs(true)]).toEqual([100, 500]);
  for (let count = 0; count < 100; count++) hedges.noteAnswer(200);
  expect(hedges.delayMs(false)).toBeCloseTo(800, 0);
  for (let count = 0; count < 100; count++) hedges.noteAnswer(900);
  expect([hedges.delayMs(false), hedges.delayMs(true)]).toEqual([1_000, 1_000]);
});

test("no hedge is sent for five seconds after a quota is used up", async () => {
  const clock = new FakeClock();
  const hedges = new Hedges(clock, 2_000);
  expect(hedges.arePaused).toBe(false);
  hedges.noteQuota();
  await clock.advance(4_999);
  expect(hedges.arePaused).toBe(true);
  await clock.advance(1);
  expect(hedges.arePaused).toBe(false);
});

test("an error of one request waits for the other, and where both fail, it is that of the first", async () => {
  const clock = new FakeClock();
  const after = (ms: number, outcome: number | Error) => () =>
    new Promise<number>((resolve, reject) => {
      clock.schedule(ms, () => (outcome instanceof Error ? reject(outcome) : resolve(outcome)));
    });
  const { signal } = new AbortController();
  const [first, second] = [new Error("first"), new Error("second")];
  let others: unknown[] = [];
  const onOther = (...other: [isFirst: boolean, error: unknown]) => void others.push(other);
  const run = async (a: ReturnType<typeof after>, b: ReturnType<typeof after>) => {
    others = [];
    const outcome = firstOfTwo({ clock, signal, first: a, delayMs: 10, second: () => b, onOther }).catch(
      (error) => error,
    );
    await clock.advance(100);
    return outcome;
  };
  expect([await run(after(5, 1), after(1, 2)), others]).toEqual([1, []]);
  expect([await run(after(50, 1), after(1, 2)), others]).toEqual([2, [[true, undefined]]]);
  expect([await run(after(50, first), after(60, 2)), others]).toEqual([2, [[true, first]]]);
  expect([await run(after(50, 1), after(1, second)), others]).toEqual([1, [[false, second]]]);
  expect([await run(after(50, first), after(1, second)), others]).toEqual([first, [[false, second]]]);
  expect([await run(after(50, first), after(60, second)), others]).toEqual([first, [[false, second]]]);
  expect([await run(after(5, first), after(1, 2)), others]).toEqual([first, []]);
});

test("a refill without an answer goes to another server as well, and two in a row move the client there", async () => {
  const servers = [await startServer(), await startServer()];
  const client = connect(servers, patient);
  await client.nextId();
  const [slow, well] = servers.toSorted((a, b) => callsOf(b, "nextId") - callsOf(a, "nextId")) as [
    ScriptedIdServer,
    ScriptedIdServer,
  ];
  const held = hold(slow);
  for (let count = 0; count < 3; count++) await client.prefetch({ maxAgeMs: 60_000 }).nextId();
  expect([held.count, callsOf(well, "reserveIds")]).toEqual([2, 3]);
});

test("a refill without an answer goes over a second connection of a lone server, which is kept", async () => {
  const server = await startServer();
  const link = await TcpProxy.start(Number(new URL(server.url).port));
  onTestFinished(() => link.stop());
  const client = connect([], { endpoints: [`http://127.0.0.1:${link.port}`], ...patient });
  await client.nextId();
  link.swallow();
  await client.prefetch({ maxAgeMs: 60_000 }).nextId();
  // Over the same connection: the one before answers nothing.
  await client.nextId();
  expect(link.acceptedCount).toBe(2);
});

test("a refill opens no second connection beside one that has answered no request", async () => {
  const server = await startServer();
  server.handlers = {
    reserveIds: ({ count }) =>
      callsOf(server, "reserveIds") === 1 ? new Promise(() => {}) : { runs: [{ firstId: 1n, count, stride: 1n }] },
  };
  await connect([server], { attemptTimeoutMs: 1_000, timeoutMs: 60_000 }).prefetch({ maxAgeMs: 60_000 }).nextId();
  expect(server.acceptedCount).toBe(1);
});

test("a single call is never sent twice, and a refill is not while a quota is used up", async () => {
  const servers = [await startServer(), await startServer()];
  const reasons: unknown[] = [];
  const observer = { onRefill: ({ reason }: RefillEvent) => void reasons.push(reason) };
  const client = connect(servers, { attemptTimeoutMs: 1_500, timeoutMs: 1_500, retryMax: 0, observer });
  for (const server of servers) {
    server.handlers = {
      ...server.handlers,
      nextId: () => new Promise(() => {}),
      reserveIds: () => {
        throw faultError({ reason: "QUOTA_EXCEEDED", code: Code.ResourceExhausted });
      },
    };
  }
  expect(await errorOf(client.nextId())).toMatchObject({ reason: "DEADLINE_EXCEEDED" });
  expect(servers.map((server) => callsOf(server, "nextId")).toSorted((a, b) => a - b)).toEqual([0, 1]);
  const buffer = client.prefetch();
  expect(() => buffer.nextIdSync()).toThrow();
  await expect.poll(() => reasons).toContain("QUOTA_EXCEEDED");
  buffer.close();
  const held = servers.map(hold);
  await errorOf(Promise.resolve(client.prefetch().nextId({ timeoutMs: 600 })));
  expect(held.map(({ count }) => count).toSorted((a, b) => a - b)).toEqual([0, 1]);
});

function callsOf(server: ScriptedIdServer, method: string): number {
  return server.calls.filter((call) => call.method === method).length;
}
