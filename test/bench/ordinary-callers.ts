/** No attacks: what the other caller notices of processes and callers that do nothing wrong. */
import { type AddressInfo, connect, createServer } from "node:net";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { Attack } from "../support/http2/attacks.ts";
import { askHttp2, grpcFrame } from "../support/http2/http-call.ts";
import { nextIdFields } from "../support/http2/http2-floods.ts";
import { RawClient } from "../support/http2/http2-raw-client.ts";
import { data, headers, hello, windowUpdate } from "../support/http2/http2-wire.ts";

const emptyMessage = grpcFrame(new Uint8Array(0));
const spinMs = 5;
const callsAtOnce = 100;
const batches = 200;
/** Of four callers: about as many connections as `--connections-per-second` lets in. */
const pauseMs = 1;
const wideWindow = 100_000_000;

async function callInBatches(port: number): Promise<string> {
  const client = await RawClient.connect(port);
  client.send(hello, windowUpdate(0, wideWindow));
  for (let batch = 0; batch < batches && !client.isClosed; batch++) {
    const ids = Array.from({ length: callsAtOnce }, (_, index) => 2 * (batch * callsAtOnce + index) + 1);
    const calls = ids.flatMap((id) => [headers(id, "body", nextIdFields), data(id, emptyMessage, "end")]);
    await client.exchange(...calls);
  }
  client.destroy();
  return "-";
}

/** A port of the calling process's own, that answers a few bytes and closes. */
const elsewhere: Promise<number> = new Promise((resolve) => {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.end(emptyMessage));
  });
  server.unref().listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
});

async function connectElsewhere(): Promise<string> {
  const socket = connect(await elsewhere, "127.0.0.1");
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.on("error", () => undefined);
  socket.resume();
  socket.write(hello);
  await closed;
  await sleep(pauseMs);
  return "-";
}

/** The rows that the others are to be compared with. They end by themselves: never. */
export const ordinaryCallers: readonly Attack[] = [
  {
    name: "none: a process that is busy with itself",
    end: /^-$/,
    run: async () => {
      const untilMs = performance.now() + spinMs;
      while (performance.now() < untilMs);
      await nextTurn();
      return "-";
    },
  },
  { name: "none: connections to somebody else", end: /^-$/, run: connectElsewhere },
  {
    name: "none: callers that connect for each call",
    end: /^-$/,
    run: async (port) => {
      const question = { path: "/snowlane.v1.IdService/NextId", body: "{}" };
      await askHttp2(`http://127.0.0.1:${port}`, question).catch(() => undefined);
      return "-";
    },
  },
  { name: `none: callers with ${callsAtOnce} calls at once`, end: /^-$/, run: callInBatches },
];
