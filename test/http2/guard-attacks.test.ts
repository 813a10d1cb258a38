/**
 * Attacks on what comes before the calls: credentials, quotas, metrics. Each leaves another caller served, the memory
 * in use as it was, and the lines of a scrape as many as they were.
 */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { BatchNextIdsRequestSchema } from "../../src/gen/snowlane/v1/id_service_pb.ts";
import { progress } from "../support/fetch/user-cache.ts";
import { grpcFrame } from "../support/http2/http-call.ts";
import { attackerName, nextIdFields } from "../support/http2/http2-floods.ts";
import { RawClient } from "../support/http2/http2-raw-client.ts";
import { data, type FieldPairs, headers, hello } from "../support/http2/http2-wire.ts";
import { Neighbour } from "../support/http2/neighbour.ts";
import { scrape } from "../support/metrics/scrape.ts";
import { bearer, writePrincipals } from "../support/processes/principals-file.ts";
import { liveMemoryFlags, liveMb } from "../support/processes/live-memory.ts";
import { bundledProgram, bundleServer } from "../support/processes/server-bundle.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";
import { scale } from "../support/worlds/scale.ts";

let folder: string;
let server: SnowlaneProcess;
let neighbour: Neighbour;
let port: number;

const ids = ["ids"];
const streamsMax = 100;
const principals = [
  { name: attackerName, permissions: ids },
  { name: "neighbour", permissions: ids },
  { name: "scraper", permissions: ["observe"] },
  { name: "paced", permissions: ids, idsPerSecond: 1_000 },
  { name: "bounded", permissions: ids, idsPerSecond: 1_000, streamsMax },
];

const metrics = () => scrape(server.url, { headers: bearer("scraper") });
const refusedCredentials = async (): Promise<number> =>
  (await metrics()).get('snowlane_refused_total{why="credentials"}') ?? 0;

beforeAll(async () => {
  await bundleServer();
  folder = mkdtempSync(join(tmpdir(), "snowlane-attacks-"));
  const file = join(folder, "principals.json");
  writePrincipals(file, principals);
  const flags = ["--principals", file, "--log-calls", "refused", "--wait-max", "60s", "--stall-timeout", "60s"];
  // They connect from this machine alone, as fast as it can.
  const connections = ["--connections-per-second", "10000"];
  server = await startSnowlane({
    program: [process.execPath, ...liveMemoryFlags, bundledProgram],
    args: ["--store", `sqlite:${join(folder, "snowlane.db")}`, ...flags, ...connections],
  });
  port = Number(server.address.split(":")[1]);
  neighbour = new Neighbour(server.url, {}, bearer("neighbour"));
  // One of each, so that everything is compiled and every line is there.
  await guess(20, 50, () => "127.0.0.1");
  await openStreams("paced", 10);
  await openStreams("bounded", 10);
  await scrapeFlood(8, 10);
  await neighbour.served(500);
});

afterEach(async () => {
  await neighbour.served(20);
  expect(neighbour.report().failures).toEqual([]);
});

afterAll(async () => {
  await neighbour.stop();
  expect(await server.stop("SIGTERM")).toBe(0);
  expect(server.log.filter(({ level }) => level === "error")).toEqual([]);
  rmSync(folder, { recursive: true, force: true });
});

/** Runs an attack; its memory and its lines of metrics are gone when it is over. */
async function leavesNothing(attack: () => Promise<void>): Promise<void> {
  const before = { mb: await liveMb(server), lines: [...(await metrics()).keys()] };
  await attack();
  // The server lets a closed connection linger for a second.
  await expect.poll(async () => (await liveMb(server)) / before.mb, { interval: 500 }).toBeLessThan(1.1);
  expect([...(await metrics()).keys()]).toEqual(before.lines);
}

const message = grpcFrame(new Uint8Array(0));
const ofOthers = nextIdFields.filter(([name]) => name !== "authorization");
let guesses = 0;

/** Connections that each try one token after another, with names of principals that there are not. */
async function guess(connections: number, each: number, addressOf: (index: number) => string): Promise<void> {
  const tryTokens = async (index: number): Promise<void> => {
    const client = await RawClient.connect(port, addressOf(index));
    client.send(hello);
    for (let sent = 0; sent < each; sent += 50) {
      const ids = Array.from({ length: 50 }, (_, place) => 2 * (sent + place) + 1);
      const calls = ids.flatMap((id) => {
        const guessed = `${(guesses++).toString(36)}-${"x".repeat(30)}`;
        const fields: FieldPairs = [
          ...ofOthers,
          ["authorization", `Bearer snw_${guessed}`],
          ["x-principal", guessed],
          [guessed, "principal"],
        ];
        return [headers(id, "body", fields), data(id, message, "end")];
      });
      const lines = await client.exchange(...calls);
      expect(lines.filter((line) => /^headers \d+ .*grpc-status=16 /.test(line))).toHaveLength(50);
    }
    client.destroy();
  };
  await Promise.all(Array.from({ length: connections }, (_, index) => tryTokens(index)));
}

test.each([
  ["one network", () => "127.0.0.1"],
  ["200 networks", (index: number) => `127.${index + 1}.0.1`],
] as const)(
  `${10_000 * scale} tokens guessed from %s are refused and counted, and nobody is delayed`,
  async (_, addressOf) => {
    const each = 50 * scale;
    await leavesNothing(async () => {
      const before = await refusedCredentials();
      const startMs = performance.now();
      await guess(200, each, addressOf);
      const { calls, p99Ms } = neighbour.report();
      const seconds = ((performance.now() - startMs) / 1_000).toFixed(1);
      progress(`${200 * each} guesses in ${seconds} s; beside them ${calls} calls, p99 ${p99Ms.toFixed(1)} ms.`);
      expect(await refusedCredentials()).toBe(before + 200 * each);
    });
    // From the guessers' address, on a connection of its own.
    const honest = await RawClient.connect(port, addressOf(0));
    const answer = await honest.exchange(hello, headers(1, "body", nextIdFields), data(1, message, "end"));
    expect(answer.join("\n")).toMatch(/^headers 1 grpc-status=0/m);
    honest.destroy();
  },
);

/** Connections that scrape again and again, with the right token and with none in turn. */
async function scrapeFlood(connections: number, each: number): Promise<void> {
  const ask = async (): Promise<void> => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined);
    let text = "";
    socket.setEncoding("latin1").on("data", (chunk: string) => (text += chunk));
    for (let sent = 0; sent < each; sent++) {
      text = "";
      const field = sent % 2 === 0 ? `authorization: ${bearer("scraper").authorization}\r\n` : "";
      socket.write(`GET /metrics HTTP/1.1\r\nhost: localhost\r\n${field}\r\n`);
      const end = sent % 2 === 0 ? /^HTTP\/1\.1 200 [^]*snowlane_build_info\{[^}]*\} 1\n/ : /^HTTP\/1\.1 401 [^]*\n$/;
      while (!end.test(text)) await once(socket, "data");
    }
    socket.destroy();
  };
  await Promise.all(Array.from({ length: connections }, ask));
}

test("a flood of scrapes, with and without a token, takes calls and memory from nobody", async () => {
  await leavesNothing(async () => {
    const before = await refusedCredentials();
    await scrapeFlood(50, 20 * scale);
    const { calls, p99Ms } = neighbour.report();
    progress(`${1_000 * scale} scrapes; beside them ${calls} calls, p99 ${p99Ms.toFixed(1)} ms.`);
    expect(await refusedCredentials()).toBe(before + 500 * scale);
  });
});

const endless = grpcFrame(
  toBinary(BatchNextIdsRequestSchema, create(BatchNextIdsRequestSchema, { count: 1_000_000_000n })),
);

/** Opens 100 streams on each of that many connections; resolves with how many of them were refused at once. */
async function openStreams(name: string, connections: number): Promise<number> {
  const fields = nextIdFields.map(([field, value]): readonly [string, string] => {
    if (field === ":path") return [field, "/snowlane.v1.IdService/BatchNextIds"];
    return [field, field === "authorization" ? bearer(name).authorization : value];
  });
  let refused = 0;
  const clients: RawClient[] = [];
  for (let index = 0; index < connections; index++) {
    const client = await RawClient.connect(port);
    clients.push(client);
    const ids = Array.from({ length: 100 }, (_, place) => 2 * place + 1);
    const calls = ids.flatMap((id) => [headers(id, "body", fields), data(id, endless, "end")]);
    const lines = await client.exchange(hello, ...calls);
    refused += lines.filter((line) => /^headers \d+ .*grpc-status=8 /.test(line)).length;
  }
  const peakMb = await liveMb(server);
  const open = (await metrics()).get("snowlane_streams");
  progress(
    `${name}: ${connections * 100} streams, of which ${refused} were refused; ${open} open, ${peakMb.toFixed(0)} MB.`,
  );
  expect(open).toBe(connections * 100 - refused);
  for (const client of clients) client.destroy();
  // Outside of a test, too, where expect.poll() cannot be.
  const isOver = async () => expect((await metrics()).get("snowlane_streams")).toBe(0);
  await vi.waitFor(isOver, { timeout: 60_000 });
  return refused;
}

test("10,000 streams of one principal wait for its quota in bounded memory, or are refused", async () => {
  await leavesNothing(async () => {
    expect(await openStreams("paced", 100)).toBe(0);
    expect(await openStreams("bounded", 100)).toBe(10_000 - streamsMax);
  });
});
