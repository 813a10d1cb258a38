/** Attacks on a running server, each by a caller of its own, and how each has to end. */
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { create, toBinary } from "@bufbuild/protobuf";
import { BatchNextIdsRequestSchema } from "../../../src/gen/snowlane/v1/id_service_pb.ts";
import { frameType, preface, settingId } from "../../../src/http2/frame.ts";
import { grpcFrame } from "./http-call.ts";
import { bomb, type Flood, floods, nextIdFields } from "./http2-floods.ts";
import { RawClient } from "./http2-raw-client.ts";
import {
  data,
  type FieldPairs,
  frame,
  headers,
  hello,
  ping,
  rawBlock,
  rstStream,
  settings,
  windowUpdate,
} from "./http2-wire.ts";

/** An attack by one caller. */
export interface Attack {
  readonly name: string;
  /** Attacks a port of loopback once; says how it ended. */
  readonly run: (port: number) => Promise<string>;
  /** How it has to end. */
  readonly end: RegExp;
}

const windowMax = 0x7fff_ffff;
/** Rounds of a flood that are sent in one write. */
const roundsAtOnce = 20;
const dripMs = 50;

const requestIds = Array.from({ length: 100 }, (_, index) => 2 * index + 1);
const batchFields: FieldPairs = nextIdFields.map(([name, value]) =>
  name === ":path" ? [name, "/snowlane.v1.IdService/BatchNextIds"] : [name, value],
);
const endlessBatch = grpcFrame(
  toBinary(BatchNextIdsRequestSchema, create(BatchNextIdsRequestSchema, { count: 1_000_000_000n })),
);
/** As many streams as a connection may have, each of a billion IDs. */
const endlessBatches = requestIds.flatMap((id) => [headers(id, "body", batchFields), data(id, endlessBatch, "end")]);

function floodAttack({ name, first = [], round, end }: Flood): Attack {
  return {
    name,
    end: new RegExp(`^goAway \\d+ ${end}$`),
    run: async (port) => {
      const client = await RawClient.connect(port);
      client.send(hello, ...first);
      await client.flood((index) =>
        Buffer.concat(Array.from({ length: roundsAtOnce }, (_, place) => round(index * roundsAtOnce + place))),
      );
      return farewell(await client.until(() => false));
    },
  };
}

/** The last frame of the server about the connection. */
function farewell(lines: readonly string[]): string {
  return lines.findLast((line) => line.startsWith("goAway")) ?? "closed without a word";
}

/** Cancels a thousand requests more than may be cancelled at once; says how they were read. */
async function rapidReset(port: number, fields: FieldPairs): Promise<string> {
  const client = await RawClient.connect(port);
  client.send(hello);
  const startedMs = performance.now();
  const ids = Array.from({ length: 3_000 }, (_, index) => 2 * index + 1);
  await client.exchange(...ids.flatMap((id) => [headers(id, "body", fields), rstStream(id)]));
  const end = client.isClosed ? "closed" : performance.now() - startedMs < 500 ? "read at once" : "read slowly";
  client.destroy();
  return end;
}

/** How a stream ended: by its trailers or a reset. */
function endOf(id: number, lines: readonly string[]): string | undefined {
  return lines.find(
    (line) => line.startsWith(`rstStream ${id} `) || (line.startsWith(`headers ${id} `) && line.endsWith(" end")),
  );
}

/** Sends bytes, and waits until the streams are over. Says how the last of them ended. */
async function untilOver(port: number, ids: readonly number[], ...bytes: readonly Uint8Array[]): Promise<string> {
  const client = await RawClient.connect(port);
  client.send(...bytes);
  const lines = await client.until((lines) => ids.every((id) => endOf(id, lines) !== undefined));
  client.destroy();
  return endOf(ids.at(-1) ?? 0, lines) ?? farewell(lines);
}

const watchFields: FieldPairs = nextIdFields.map(([name, value]) =>
  name === ":path" ? [name, "/grpc.health.v1.Health/Watch"] : [name, value],
);
const watchedConnections = 100;

function watch(id: number): Uint8Array {
  return Buffer.concat([headers(id, "body", watchFields), data(id, grpcFrame(new Uint8Array(0)), "end")]);
}

/** The streams that have got a status, or an error. */
function streamsIn(lines: readonly string[], kind: RegExp): number {
  return new Set(lines.filter((line) => kind.test(line)).map((line) => line.split(" ")[1])).size;
}

/** Opens as many Watch streams as a connection may have, and holds on to those that it is given. */
async function holdWatches(port: number): Promise<string> {
  const client = await RawClient.connect(port);
  client.send(hello, ...requestIds.map(watch));
  const refused = /^headers \d+ .*grpc-status=8 .*end$/;
  const lines = await client.until(
    (found) => streamsIn(found, /^data /) + streamsIn(found, refused) >= requestIds.length,
  );
  client.destroy();
  return `${streamsIn(lines, /^data /)} are open, ${streamsIn(lines, refused)} refused`;
}

/** Opens one Watch on each of many connections, which then go away without a word. */
async function watchByMany(port: number): Promise<string> {
  const clients = await Promise.all(Array.from({ length: watchedConnections }, () => RawClient.connect(port)));
  const told = clients.map(async (client) => {
    client.send(hello, watch(1));
    return streamsIn(await client.until((lines) => streamsIn(lines, /^data 1 /) === 1), /^data 1 /);
  });
  const count = (await Promise.all(told)).reduce((sum, one) => sum + one, 0);
  for (const client of clients) client.destroy();
  return `${count} are open`;
}

/** Attacks that end by themselves, whatever the server's limits on time are. */
export const quickAttacks: readonly Attack[] = [
  ...floods.map(floodAttack),
  {
    name: "rapid reset (CVE-2023-44487)",
    end: /^read slowly$/,
    run: (port) => rapidReset(port, nextIdFields),
  },
  {
    name: "as many fields as a request may have",
    end: /^read slowly$/,
    run: (port) => rapidReset(port, [...nextIdFields, ...Array.from({ length: 120 }, () => ["a", "b"] as const)]),
  },
  {
    name: "HPACK bombs of 80 kB a request",
    end: /^headers 2001 .*grpc-status=8 .*end$/,
    run: (port) => {
      const block = Buffer.concat([rawBlock(nextIdFields), Buffer.alloc(20, 0xbe)]);
      const bombs = Array.from({ length: 1_000 }, (_, index) => frame(frameType.headers, 5, 2 * index + 3, block));
      return untilOver(port, [2_001], hello, bomb, ...bombs);
    },
  },
  {
    name: "window overflow of a stream",
    end: /^rstStream 1 flowControlError$/,
    run: (port) => untilOver(port, [1], hello, headers(1, "body", nextIdFields), windowUpdate(1, windowMax)),
  },
  {
    name: "a message of 4 GiB, by its prefix",
    end: /^headers 1 .*grpc-status=8 .*end$/,
    run: (port) => {
      const body = Buffer.from([0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0]);
      return untilOver(port, [1], hello, headers(1, "body", nextIdFields), data(1, body));
    },
  },
  // Streams without credentials, which never end by themselves.
  { name: "100 Watch streams on a connection", end: /^10 are open, 90 refused$/, run: holdWatches },
  { name: "a Watch on each of 100 connections", end: /^100 are open$/, run: watchByMany },
  {
    name: "a gzip bomb",
    end: /^headers 1 .*grpc-status=8 .*end$/,
    run: (port) => {
      const bomb = grpcFrame(gzipSync(Buffer.alloc(3_000_000)));
      bomb[0] = 1;
      const fields: FieldPairs = [...nextIdFields, ["grpc-encoding", "gzip"]];
      return untilOver(port, [1], hello, headers(1, "body", fields), data(1, bomb, "end"));
    },
  },
];

/** A connection that sends `first`, and then `drip` again and again, until it is closed. */
async function dripping(port: number, first: Uint8Array | string, drip: Uint8Array | string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  let received = "";
  socket.on("error", () => undefined);
  socket.on("data", (chunk: Buffer) => (received += chunk.toString("latin1")));
  // Not once() of node:events: that rejects where the server resets what it closed.
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.write(first);
  const timer = setInterval(() => void (drip.length > 0 && socket.writable && socket.write(drip)), dripMs);
  await closed;
  clearInterval(timer);
  return /^HTTP\/1\.1 (\d+)/.exec(received)?.[1] ?? (received === "" ? "closed without a word" : "closed");
}

/** Takes 100 endless streams and reads nothing, until the server is tired of it. */
async function readNothing(port: number): Promise<string> {
  const client = await RawClient.connect(port);
  client.stopReading();
  client.send(hello, settings([settingId.initialWindowSize, windowMax]), windowUpdate(0, windowMax - 65_535));
  client.send(...endlessBatches);
  // A socket that nobody reads does not tell of its end, but when it is written to.
  while (!client.isClosed) {
    client.send(ping());
    await sleep(dripMs);
  }
  return "closed";
}

async function dripFrames(port: number, first: readonly Uint8Array[], drip: Uint8Array): Promise<string> {
  const client = await RawClient.connect(port);
  client.send(hello, ...first);
  const timer = setInterval(() => client.send(drip), dripMs);
  const lines = await client.until((lines) => lines.some((line) => /^goAway|^rstStream/.test(line)));
  clearInterval(timer);
  client.destroy();
  return lines.findLast((line) => /^goAway|^rstStream/.test(line)) ?? farewell(lines);
}

/** Attacks that hold on to what they have until one of the server's limits on time ends them. */
export const slowAttacks: readonly Attack[] = [
  {
    name: "100 endless streams and a window of zero",
    end: /^rstStream \d+ |grpc-status=14 .*end$/,
    run: (port) => untilOver(port, requestIds, hello, settings([settingId.initialWindowSize, 0]), ...endlessBatches),
  },
  { name: "100 endless streams and a reader that takes nothing", end: /^closed$/, run: readNothing },
  {
    name: "100 calls whose bodies never come",
    end: /^rstStream \d+ cancel$/,
    run: (port) => untilOver(port, requestIds, hello, ...requestIds.map((id) => headers(id, "body", nextIdFields))),
  },
  {
    name: "a body that comes byte by byte",
    end: /^rstStream 1 cancel$/,
    run: (port) => dripFrames(port, [headers(1, "body", nextIdFields), data(1, Buffer.of(0, 0, 0, 15, 0))], data(1, 1)),
  },
  {
    name: "a frame that comes byte by byte",
    end: /^goAway \d+ enhanceYourCalm$/,
    run: (port) => dripFrames(port, [frame(frameType.data, 0, 1, Buffer.alloc(16_000)).subarray(0, 20)], Buffer.of(0)),
  },
  {
    name: "a header block that never ends",
    end: /^goAway \d+ enhanceYourCalm$/,
    run: (port) => dripFrames(port, [frame(frameType.headers, 0, 1, rawBlock(nextIdFields))], Buffer.alloc(0)),
  },
  { name: "a preface and nothing after it", end: /^closed$/, run: (port) => dripping(port, preface, "") },
  { name: "a connection that says nothing", end: /^closed without a word$/, run: (port) => dripping(port, "", "") },
  { name: "the first two bytes of HTTP/2", end: /^closed without a word$/, run: (port) => dripping(port, "PR", "") },
  {
    name: "HTTP/1.1 headers that come byte by byte",
    // node:http closes with the last byte unread now and then: then the kernel takes the answer back.
    end: /^(?:408|closed without a word)$/,
    run: (port) => dripping(port, "POST /snowlane.v1.IdService/NextId HTTP/1.1\r\nx: ", "x"),
  },
  {
    name: "an HTTP/1.1 body that comes byte by byte",
    end: /^(?:408|504|closed.*)$/,
    run: (port) =>
      dripping(
        port,
        "POST /snowlane.v1.IdService/NextId HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 4000\r\n\r\n",
        " ",
      ),
  },
];

/** The first bytes of a TLS client: a record of 512 bytes that begins a ClientHello. */
const clientHelloStart = Buffer.from("160301020001000001fc0303", "hex");

/** Attacks on a port that expects TLS. */
export const tlsAttacks: readonly Attack[] = [
  { name: "a handshake that never begins", end: /^closed/, run: (port) => dripping(port, "", "") },
  { name: "half of a ClientHello", end: /^closed/, run: (port) => dripping(port, clientHelloStart, "") },
  { name: "a ClientHello byte by byte", end: /^closed/, run: (port) => dripping(port, clientHelloStart, "\0") },
];
