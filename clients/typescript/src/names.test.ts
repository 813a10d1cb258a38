import { once } from "node:events";
import { connect as connectTcp, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { TcpProxy } from "../../../test/support/processes/tcp-proxy.ts";
import { HastyClock } from "../test/hasty-clock.ts";
import { errorOf, startServer } from "../test/scripted-client.ts";
import { FakeClock } from "./fake-clock.ts";
import { type Endpoint, Endpoints } from "./endpoints.ts";
import { IdClient } from "./id-client.ts";
import { hasHostName, HostName } from "./names.ts";
import { grpcChannels } from "./node.ts";
import type { AttemptEvent } from "./observer.ts";

const url = "http://ids.test:7609";

/** A name whose looks find what a test says. */
function nameOf(addresses: readonly string[]) {
  const clock = new FakeClock();
  const endpoints = new Endpoints([url], clock, () => 0);
  const gone: Endpoint[] = [];
  const looks = { count: 0, found: addresses };
  const lookUp = async (): Promise<readonly string[]> => {
    looks.count++;
    if (looks.found.length === 0) throw new Error("ENOTFOUND");
    return looks.found;
  };
  const options = { lookUp, endpoints, clock, random: () => 0, onGone: (one: Endpoint) => void gone.push(one) };
  const name = new HostName(endpoints.all[0] as Endpoint, options);
  const urls = (): readonly string[] => endpoints.all.map((endpoint) => endpoint.url).toSorted();
  return { clock, endpoints, gone, looks, name, urls };
}

test("a name with several addresses is as many endpoints, those of the first one's family", async () => {
  const { name, urls, endpoints, gone } = nameOf(["10.0.0.1", "10.0.0.2", "10.0.0.1", "fd00::1"]);
  await name.look();
  expect(urls()).toEqual([`${url} [10.0.0.1]`, `${url} [10.0.0.2]`]);
  expect(gone).toHaveLength(1);
  // Replacing a name by its addresses does not count as a move.
  endpoints.choose();
  expect(endpoints.announce()).toBe(false);
});

test.each([[[]], [["10.0.0.1"]], [["::1", "127.0.0.1"]], [["10.0.0.1", "10.0.0.1"]]])(
  "a name that is found as %j is left to the system",
  async (addresses) => {
    const { name, urls, looks } = nameOf(addresses);
    await name.look();
    expect([urls(), looks.count]).toEqual([[url], 1]);
  },
);

test("a name is looked up again after 30 s, and after 5 s where an address is down", async () => {
  const { name, looks, clock, endpoints } = nameOf(["10.0.0.1", "10.0.0.2"]);
  const countAfter = async (ms: number): Promise<number> => {
    await clock.advance(ms);
    await name.look();
    return looks.count;
  };
  expect([await countAfter(0), await countAfter(29_999), await countAfter(1)]).toEqual([1, 1, 2]);
  (endpoints.all[0] as Endpoint).downUntilMs = Infinity;
  expect([await countAfter(4_999), await countAfter(1)]).toEqual([2, 3]);
});

test("an address that three looks in a row missed is gone, unless it is in use and answers", async () => {
  const { name, looks, clock, endpoints, urls, gone } = nameOf(["10.0.0.1", "10.0.0.2"]);
  const look = async (): Promise<void> => {
    await clock.advance(30_000);
    await name.look();
    await Promise.resolve();
  };
  await look();
  const inUse = endpoints.choose().endpoint;
  looks.found = ["10.0.0.3"];
  await look();
  await look();
  expect(urls()).toHaveLength(3);
  await look();
  expect(urls()).toEqual([inUse.url, `${url} [10.0.0.3]`].toSorted());
  // The lookup failed: the addresses that are known stay.
  looks.found = [];
  await look();
  expect(urls()).toHaveLength(2);
  looks.found = ["10.0.0.3"];
  inUse.failuresInRow = 1;
  await look();
  expect(urls()).toEqual([`${url} [10.0.0.3]`]);
  expect(gone).toHaveLength(3);
});

test("the other family is used once all addresses of the first are down", async () => {
  const { name, clock, endpoints, urls } = nameOf(["10.0.0.1", "10.0.0.2", "fd00::1"]);
  await name.look();
  for (const endpoint of endpoints.all) endpoint.downUntilMs = Infinity;
  await clock.advance(5_000);
  void name.look();
  await clock.advance(1);
  expect(urls()).toContain(`${url} [fd00::1]`);
});

test("a client uses no more than 64 addresses of a name", async () => {
  const { name, urls } = nameOf(Array.from({ length: 100 }, (_, index) => `10.0.1.${index}`));
  await name.look();
  expect(urls()).toHaveLength(64);
});

test("the first call waits for a name for half a second at most", async () => {
  const { name, clock, looks } = nameOf([]);
  looks.found = new Proxy([], { get: () => undefined });
  const waiting = name.look();
  expect(waiting).toBeDefined();
  await clock.advance(500);
  await waiting;
  expect(name.look()).toBeUndefined();
});

test.each([
  ["http://ids.test:1", true],
  ["https://localhost:1", true],
  ["http://10.0.0.1:1", false],
  ["http://[::1]:1", false],
  ["unix:/run/snowlane.sock", false],
])("%s has a host name: %j", (endpoint, expected) => {
  const [one] = new Endpoints([endpoint], new FakeClock(), () => 0).all;
  expect(hasHostName(one as Endpoint)).toBe(expected);
});

/** Lets connections to another address of this machine, at the same port, through to a port. */
async function forward(address: string, port: number, target: number): Promise<void> {
  const server = createServer((client) => {
    const upstream = connectTcp(target, "127.0.0.1");
    for (const socket of [client, upstream]) socket.on("error", () => upstream.destroy(client.destroy() as never));
    client.pipe(upstream).pipe(client);
  }).listen(port, address);
  await once(server, "listening");
  onTestFinished(() => void server.close());
}

test("where one address of a name dies, the client goes on with another, by the name's authority", async () => {
  const servers = [await startServer(1n), await startServer(1_000n)];
  const proxy = await TcpProxy.start(Number(new URL(servers[0]!.url).port), "127.0.0.2");
  onTestFinished(() => proxy.stop());
  await forward("127.0.0.3", proxy.port, Number(new URL(servers[1]!.url).port));
  const attempts: AttemptEvent[] = [];
  const observer = { onAttempt: (event: AttemptEvent) => void attempts.push(event) };
  const named = `http://ids.test:${proxy.port}`;
  const client = new IdClient(
    grpcChannels(),
    { endpoints: [named], observer, random: () => 0.4, clock: new HastyClock() },
    async () => ["127.0.0.2", "127.0.0.3"],
  );
  onTestFinished(() => client.close());
  const first = await client.nextId();
  const [used, other] = first < 1_000n ? servers : servers.toReversed();
  await used!.kill();
  expect(await client.nextId()).not.toBe(first + 1n);
  expect(new URL(other!.calls.at(-1)!.context.url).host).toBe(`ids.test:${proxy.port}`);
  expect(new Set(attempts.map(({ endpoint }) => endpoint)).size).toBe(2);
  for (const { endpoint } of attempts) expect(endpoint).toMatch(/^http:\/\/ids\.test:\d+ \[127\.0\.0\.[23]\]$/);
  await other!.kill();
  expect(String(await errorOf(client.nextId()))).toContain(`(${named} [127.0.0.`);
});
