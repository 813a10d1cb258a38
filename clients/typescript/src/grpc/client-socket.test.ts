import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { IdService } from "../../../../src/gen/snowlane/v1/id_service_pb.ts";
import { frameType } from "../../../../src/http2/frame.ts";
import { nextIdAnswer, RawHttp2Server, type RawRequest } from "../../../../test/support/http2/raw-http2-server.ts";
import { runCommand } from "../../../../test/support/processes/run-command.ts";
import { createNodeClient } from "../node.ts";
import { GrpcTransport } from "./grpc-transport.ts";

/** Time moves only when a test lets it pass; sockets work as usual. */
beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] }));
const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const close of closers.splice(0).toReversed()) await close();
});

const answerNextId = ({ streamId, connection }: RawRequest): void =>
  connection.send(nextIdAnswer(streamId, BigInt(streamId)));

/**
 * A client with a server that answers the requests of these numbers on its first connection, and all on others. The
 * first request is over, so that nothing is on its way when time passes.
 */
async function open(
  pings: "answered" | "ignored",
  answered: (streamId: number) => boolean,
  others: "answered" | "ignored" = "answered",
) {
  const onRequest = (request: RawRequest): void => {
    if (request.connection.number > 0 && others === "ignored") return;
    if (request.connection.number > 0 || request.streamId === 1 || answered(request.streamId)) answerNextId(request);
  };
  const server = await RawHttp2Server.start(onRequest, { pings });
  closers.push(() => server.stop());
  const transport = new GrpcTransport(server.url, undefined);
  closers.push(() => transport.close());
  const client = createClient(IdService, transport);
  expect((await client.nextId({})).id).toBe(1n);
  return { server, client, pingCount: () => server.connections[0]?.received(frameType.ping).length };
}

const none = (): boolean => false;
const failure = (work: Promise<unknown>): Promise<ConnectError> =>
  work.then(
    () => new ConnectError("It did not fail."),
    (error: ConnectError) => error,
  );
const silence = { code: Code.Unavailable, rawMessage: "The server has not answered for 15 s." };

test("a server that is silent for 30 s is asked, and one that does not answer in 15 s is given up", async () => {
  const { client, pingCount } = await open("ignored", none);
  const call = failure(client.nextId({}));
  vi.advanceTimersByTime(29_000);
  expect(pingCount()).toBe(0);
  vi.advanceTimersByTime(2_000);
  await expect.poll(pingCount).toBe(1);
  vi.advanceTimersByTime(16_000);
  expect(await call).toMatchObject(silence);
});

test("a server that answers PINGs is waited for as long as the call may take", async () => {
  const { server, client, pingCount } = await open("answered", (streamId) => streamId > 3);
  const call = client.nextId({});
  for (let count = 1; count <= 4; count++) {
    vi.advanceTimersByTime(31_000);
    await expect.poll(pingCount).toBe(count);
    // Its answer comes after that to the PING.
    await client.nextId({});
  }
  answerNextId(server.requests[1]!);
  expect((await call).id).toBe(3n);
});

test("a server that never says a word is given up after 15 s", async () => {
  const silent = createServer((socket) => void closers.push(() => void socket.destroy())).listen(0, "127.0.0.1");
  await once(silent, "listening");
  closers.push(() => void silent.close());
  const transport = new GrpcTransport(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`, undefined);
  const call = failure(createClient(IdService, transport).nextId({}));
  vi.advanceTimersByTime(16_000);
  expect(await call).toMatchObject(silence);
});

test("calls that run out while the server answers others do not end the connection", async () => {
  const { server, client } = await open("answered", (streamId) => streamId > 21);
  for (let count = 0; count < 10; count++) await failure(client.nextId({}, { timeoutMs: 5 }));
  expect((await client.nextId({})).id).toBe(23n);
  vi.advanceTimersByTime(5_000);
  expect((await client.nextId({})).id).toBe(25n);
  expect(server.connections).toHaveLength(1);
});

test("a call that ran out on a connection that was silent for a second is the last one over it", async () => {
  const { server, client } = await open("ignored", none);
  const first = failure(client.nextId({}, { timeoutMs: 20 }));
  expect(await first).toMatchObject({ code: Code.DeadlineExceeded, cause: undefined });
  // Its silence began before this one.
  vi.advanceTimersByTime(1_000);
  const second = failure(client.nextId({}, { timeoutMs: 20 }));
  expect(await second).toMatchObject({ code: Code.DeadlineExceeded, cause: { name: "DarkConnection" } });
  expect(server.connections).toHaveLength(1);
  expect((await client.nextId({})).id).toBe(1n);
  expect(server.connections).toHaveLength(2);
  // No call waits for the old one any more.
  if (!server.connections[0]!.socket.closed) await once(server.connections[0]!.socket, "close");
});

test("calls that run out together replace one connection, and one that has not answered is left for ten seconds", async () => {
  const { server, client } = await open("ignored", none, "ignored");
  await failure(client.nextId({}, { timeoutMs: 10 }));
  vi.advanceTimersByTime(1_000);
  const calls = Array.from({ length: 20 }, () => failure(client.nextId({}, { timeoutMs: 20 })));
  for (const error of await Promise.all(calls)) expect(error.cause).toMatchObject({ name: "DarkConnection" });
  for (let second = 0; second < 9; second++) {
    expect(await failure(client.nextId({}, { timeoutMs: 10 }))).toMatchObject({ cause: undefined });
    vi.advanceTimersByTime(1_000);
  }
  expect(server.connections).toHaveLength(2);
  vi.advanceTimersByTime(1_000);
  expect(await failure(client.nextId({}, { timeoutMs: 10 }))).toMatchObject({ cause: { name: "DarkConnection" } });
});

test("a connection that went dead costs a caller time, and no error", async () => {
  const { server } = await open("ignored", none);
  vi.useRealTimers();
  const client = createNodeClient({ endpoints: [server.url], attemptTimeoutMs: 600, random: () => 0.1 });
  closers.push(() => client.close());
  // Its own first connection answers; it goes dead then.
  expect(await client.nextId()).toBe(1n);
  server.connections[1]!.socket.removeAllListeners("data").resume();
  expect(await client.nextId()).toBe(1n);
  expect(server.connections).toHaveLength(3);
});

test("a client that nobody closed keeps no process alive", async () => {
  const { server } = await open("answered", none);
  vi.useRealTimers();
  const program = `import { createNodeClient } from "./clients/typescript/src/node.ts";
    const client = createNodeClient({ endpoints: ["${server.url}"] });
    console.log(String(await client.nextId()));`;
  expect(await runCommand(process.execPath, ["--input-type=module-typescript", "-e", program])).toBe("1\n");
});
