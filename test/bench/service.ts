/**
 * Measures what NextId and BatchNextIds cost the server by gRPC, beside what people would use instead. ways.ts has the
 * other methods and protocols.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findTool } from "../support/fetch/tools.ts";
import { makeCertificates } from "../support/processes/certificates.ts";
import { runCommand } from "../support/processes/run-command.ts";
import {
  type BenchServer,
  buildGoPeer,
  floorPeer,
  goPeer,
  nodePeer,
  rustPeers,
  snowlane,
  startRustPeers,
} from "./bench-server.ts";
import type { Benchmark, Finding } from "./benchmark.ts";
import { interleave, median } from "./interleave.ts";
import { type H2load, type LoadResult, percentile, runGhz, runH2load } from "./load.ts";
import { formatFigure } from "./report.ts";

const rounds = 3;
/** Of latencies: a tail is noisier than a sum. */
const latencyRounds = 7;
/** IDs that a batch stream brings: five seconds at the ceiling of the layout twitter. */
const batchCount = 20_000_000;
/** 4,096 in a millisecond. */
const ceilingPerSecond = 4_096_000;

type Log = (line: string) => void;

/** The servers, and how to load them. */
interface Stage {
  readonly servers: Servers;
  readonly goProgram: string;
  readonly ghz: string;
  readonly folder: string;
  readonly log: Log;
}

const serverNames = [
  "engine",
  "node",
  "connect",
  "bare",
  "grpcJs",
  "grpcGo",
  "connectGo",
  "engineTls",
  "goTls",
  "floor",
] as const;
type AlwaysName = (typeof serverNames)[number];
type RustName = (typeof rustPeers)[number];
type ServerName = AlwaysName | RustName;
/** The peers in Rust are there where cargo is. */
type Servers = Readonly<Record<AlwaysName, BenchServer> & Partial<Record<RustName, BenchServer>>>;

/** A claim of ours, what was found, and whether it held. */
interface Target {
  readonly claim: string;
  readonly found: string;
  readonly isMet: boolean;
}

interface Part {
  readonly finding: Finding;
  readonly targets: readonly Target[];
}

function ratio(claim: string, value: number, limit: number): Target {
  const digits = value < 0.1 ? 4 : 2;
  return { claim, found: value.toFixed(digits), isMet: value <= limit };
}

function middle(results: readonly LoadResult[], pick: (result: LoadResult) => number): number {
  return median(results.map(pick));
}

/** What one load found of a server: calls a second, and µs of processor time a call, with the kernel's part of it. */
interface Figures {
  readonly rate: number;
  readonly cpuUs: number;
  readonly kernelUs: number;
}

/** One table of throughput and processor time under one load. */
async function compareLoads(
  { servers, log }: Stage,
  title: string,
  calls: Partial<Record<ServerName, number>>,
  run: (server: BenchServer, calls: number) => Promise<LoadResult>,
): Promise<{ readonly finding: Finding; readonly of: (name: ServerName) => Figures }> {
  log(title);
  const contestants = [...serverNames, ...rustPeers].flatMap((name) => {
    const server = servers[name];
    const count = calls[name];
    return server === undefined || count === undefined ? [] : [{ name, server, run: () => run(server, count) }];
  });
  const results = await interleave(contestants, rounds, log);
  const of = (name: ServerName): Figures => {
    const found = results.get(name) ?? [];
    return {
      rate: middle(found, (one) => one.callsPerSecond),
      cpuUs: middle(found, (one) => one.cpuUs),
      kernelUs: middle(found, (one) => one.kernelUs),
    };
  };
  const rows = contestants.map(({ name, server }) => ({ server, figures: of(name) }));
  const finding: Finding = {
    title,
    columns: ["server", "calls/s", "µs of processor a call", "of it the kernel's"],
    rows: rows.map(({ server, figures: { rate, cpuUs, kernelUs } }) => [
      server.name,
      ...[rate, cpuUs, kernelUs].map(formatFigure),
    ]),
    chart: {
      unit: "µs",
      bars: rows.map(({ server, figures }) => ({ label: server.name, value: figures.cpuUs, isOurs: server.isOurs })),
    },
  };
  return { finding, of };
}

const h2load = (stage: Stage, load: Omit<H2load, "calls">) => (server: BenchServer, calls: number) =>
  runH2load(server, { ...load, calls }, stage.folder);

async function manyStreams(stage: Stage): Promise<Part> {
  const { finding, of } = await compareLoads(
    stage,
    "NextId, h2load, 4 connections of 32 streams",
    {
      engine: 500_000,
      node: 10_000,
      connect: 10_000,
      bare: 60_000,
      grpcJs: 40_000,
      grpcGo: 120_000,
      connectGo: 50_000,
      tonic: 200_000,
      pajamax: 500_000,
    },
    h2load(stage, { connections: 4, streams: 32 }),
  );
  const ours = of("engine");
  const targets = [
    ratio("NextId: processor time at most 1/6 of grpc-go", ours.cpuUs / of("grpcGo").cpuUs, 1 / 6),
    ratio("NextId: at most 1/10 of bare node:http2", ours.cpuUs / of("bare").cpuUs, 1 / 10),
    ratio("NextId: at most 1/100 of plain Connect-Node", ours.cpuUs / of("connect").cpuUs, 1 / 100),
    ratio("NextId: at least twice the calls of grpc-go (grpc-go / ours)", of("grpcGo").rate / ours.rate, 1 / 2),
    ...besideRust(stage, ours.cpuUs, of, [
      ["NextId: at most 1/6 of tonic", "tonic", 1 / 6],
      ["NextId: at most 2 x pajamax", "pajamax", 2],
    ]),
  ];
  return { finding, targets };
}

/** Targets in processor time, beside the peers of Rust that are there. test/README.md says which miss, and why. */
function besideRust(
  { servers }: Stage,
  oursUs: number,
  of: (name: ServerName) => { cpuUs: number },
  claims: readonly (readonly [claim: string, peer: RustName, limit: number])[],
): readonly Target[] {
  const found = claims.filter(([, peer]) => servers[peer] !== undefined);
  return found.map(([claim, peer, limit]) => ratio(claim, oursUs / of(peer).cpuUs, limit));
}

async function tenConnections(stage: Stage): Promise<Part> {
  const { finding, of } = await compareLoads(
    stage,
    "NextId, h2load, 10 connections of 10 streams",
    { engine: 300_000, grpcGo: 100_000, tonic: 150_000, pajamax: 300_000 },
    h2load(stage, { connections: 10, streams: 10 }),
  );
  const claims = [["10 connections of 10 calls: at most 1/2 of tonic", "tonic", 1 / 2]] as const;
  return { finding, targets: besideRust(stage, of("engine").cpuUs, of, claims) };
}

async function manyConnections(stage: Stage): Promise<Part> {
  const { finding, of } = await compareLoads(
    stage,
    "NextId, h2load, 100 connections of one stream",
    { engine: 150_000, bare: 30_000, grpcGo: 80_000, tonic: 100_000, pajamax: 150_000 },
    h2load(stage, { connections: 100, streams: 1 }),
  );
  const { cpuUs } = of("engine");
  const targets = [
    ratio("100 connections of one call: at most 1/2 of grpc-go", cpuUs / of("grpcGo").cpuUs, 1 / 2),
    ...besideRust(stage, cpuUs, of, [["100 connections of one call: at most 0.8 of tonic", "tonic", 0.8]]),
  ];
  return { finding, targets };
}

async function overTls(stage: Stage): Promise<Part> {
  const { finding, of } = await compareLoads(
    stage,
    "NextId over TLS, h2load, 4 connections of 32 streams",
    { engineTls: 300_000, goTls: 100_000 },
    h2load(stage, { connections: 4, streams: 32, tls: true }),
  );
  const share = of("goTls").rate / of("engineTls").rate;
  return { finding, targets: [ratio("with TLS at least the calls of grpc-go (grpc-go / ours)", share, 1)] };
}

async function withDeadlines(stage: Stage): Promise<Part> {
  const { finding, of } = await compareLoads(
    stage,
    "NextId from a grpc-go client (ghz), 64 in flight, deadlines that vary",
    { engine: 100_000, bare: 40_000, grpcGo: 60_000 },
    (server, calls) => runGhz(server, stage.ghz, { calls, concurrency: 64, connections: 4 }),
  );
  const share = of("engine").cpuUs / of("grpcGo").cpuUs;
  return { finding, targets: [ratio("ghz with deadlines: at most 1/3 of grpc-go", share, 1 / 3)] };
}

const figure = (value: number): string => value.toFixed(2);

interface Latencies {
  readonly title: string;
  readonly note?: string;
  readonly names: readonly AlwaysName[];
  readonly rounds: number;
  readonly run: (server: BenchServer) => Promise<LoadResult>;
}

/** Latencies of some servers under calls that begin at a fixed rate. */
async function compareLatencies(
  { servers, log }: Stage,
  { title, note, names, rounds: times, run }: Latencies,
): Promise<{ readonly finding: Finding; readonly at: (name: ServerName, share: number) => number }> {
  log(title);
  const contestants = names.map((name) => ({ name, run: () => run(servers[name]) }));
  const results = await interleave<LoadResult>(contestants, times, log);
  const at = (name: ServerName, share: number): number =>
    middle(results.get(name) ?? [], ({ latenciesMs }) => percentile(latenciesMs, share));
  const shares = [0.5, 0.99, 0.999];
  const rows = names.map((name) => [
    servers[name].name,
    ...shares.map((share) => figure(at(name, share))),
    formatFigure(middle(results.get(name) ?? [], ({ cpuUs }) => cpuUs)),
  ]);
  const columns = ["server", "p50", "p99", "p99.9", "µs of processor a call"];
  return { finding: { title, columns, rows, ...(note === undefined ? {} : { note }) }, at };
}

type At = Awaited<ReturnType<typeof compareLatencies>>["at"];

/** The targets of the tails, under one shape of load: beside the floor, because a tail is most of all the machine's. */
function tailTargets(shape: string, at: At): readonly Target[] {
  const [p99, p999] = [at("engine", 0.99), at("engine", 0.999)];
  return [
    { claim: `10,000/s, ${shape}: p99 below 2 ms`, found: `${figure(p99)} ms`, isMet: p99 < 2 },
    ratio(`10,000/s, ${shape}: p99 at most 2 x the floor's`, p99 / at("floor", 0.99), 2),
    ratio(`10,000/s, ${shape}: p99.9 at most 2 x the floor's`, p999 / at("floor", 0.999), 2),
    ratio(`10,000/s, ${shape}: p99 not above grpc-go's`, p99 / at("grpcGo", 0.99), 1),
    ratio(`10,000/s, ${shape}: p99.9 not above grpc-go's`, p999 / at("grpcGo", 0.999), 1),
  ];
}

const paced = { calls: 50_000, perSecond: 10_000, streams: 100 };

/** 40 connections, of which each millisecond another four send two or three calls each. */
async function openLoop(stage: Stage): Promise<Part> {
  const { finding, at } = await compareLatencies(stage, {
    title: "NextId at 10,000 calls/s, open loop, h2load: latency in ms",
    note: [
      "h2load wakes up for a connection every 10 ms and begins all calls that are due at once. 40 connections that open",
      "11 ms after one another spread them to about 10 calls each millisecond, two or three on a connection.",
    ].join("\n"),
    names: ["floor", "engine", "bare", "grpcGo"],
    rounds: latencyRounds,
    run: (server) => runH2load(server, { ...paced, connections: 40, openEachMs: 11 }, stage.folder),
  });
  return { finding, targets: tailTargets("spread", at) };
}

/** Four connections that h2load opens at once, and so wakes up for at once. */
async function openLoopInBursts(stage: Stage): Promise<Part> {
  const { finding, at } = await compareLatencies(stage, {
    title: "NextId at 10,000 calls/s, open loop, h2load, 100 calls at once: latency in ms",
    note: [
      "The same rate from 4 connections that open together: h2load then begins 25 calls on each at almost the same time,",
      "and none for 10 ms. The p99 is the time until the last of 100 calls at once was answered and h2load has read it.",
    ].join("\n"),
    names: ["floor", "engine", "bare", "grpcGo"],
    rounds: latencyRounds,
    run: (server) => runH2load(server, { ...paced, connections: 4 }, stage.folder),
  });
  return { finding, targets: tailTargets("100 at once", at) };
}

/** The same rate from a client that people use: ghz takes more of the machine than the servers do. */
async function openLoopGhz(stage: Stage): Promise<Part> {
  const load = { calls: 50_000, concurrency: 256, connections: 8, perSecond: 10_000 };
  const { finding, at } = await compareLatencies(stage, {
    title: "NextId at 10,000 calls/s, open loop, a grpc-go client (ghz): latency in ms, most of it the client's",
    names: ["engine", "bare", "grpcGo"],
    rounds,
    run: (server) => runGhz(server, stage.ghz, load),
  });
  const share = at("engine", 0.99) / at("grpcGo", 0.99);
  return { finding, targets: [ratio("10,000/s by ghz: p99 not above grpc-go's", share, 1)] };
}

interface StreamRead {
  readonly ids: number;
  readonly seconds: number;
  readonly rising: boolean;
}

async function readBatch({ goProgram }: Stage, server: BenchServer, count: number): Promise<StreamRead> {
  return JSON.parse(await runCommand(goProgram, ["read", `127.0.0.1:${server.port}`, `${count}`])) as StreamRead;
}

async function batch(stage: Stage): Promise<Part> {
  const { servers, log } = stage;
  log("BatchNextIds");
  const rates = new Map<string, number>();
  const growthMb = new Map<string, number>();
  for (const server of [servers.engine, servers.node]) {
    await readBatch(stage, server, batchCount / 10);
    const before = server.residentMb();
    const read = await readBatch(stage, server, batchCount);
    if (!read.rising || read.ids !== batchCount) throw new Error(`${server.name}: the stream was not whole`);
    rates.set(server.name, read.ids / read.seconds);
    growthMb.set(server.name, server.residentMb() - before);
  }
  const finding = {
    title: `BatchNextIds, one stream of ${batchCount.toLocaleString("en-US")} IDs to a grpc-go reader`,
    columns: ["server", "IDs/s", "of the layout's ceiling", "memory grew by, MB"],
    rows: [...rates].map(([name, rate]) => [
      name,
      formatFigure(rate),
      `${((100 * rate) / ceilingPerSecond).toFixed(1)} %`,
      growthMb.get(name)!.toFixed(0),
    ]),
  };
  const share = rates.get(servers.engine.name)! / ceilingPerSecond;
  const claim = "BatchNextIds: at least 98 % of the layout's ceiling";
  return { finding, targets: [{ claim, found: `${(share * 100).toFixed(1)} %`, isMet: share >= 0.98 }] };
}

/** The latency of NextId while a stream and a reserving client take all that they can get. */
async function fairness(stage: Stage): Promise<Part> {
  const { servers, ghz, log } = stage;
  log("fairness");
  const load = { calls: 5_000, concurrency: 64, connections: 4, perSecond: 1_000 };
  // Field 1, count 4,096.
  const message = [0x08, 0x80, 0x20];
  const reserving = { connections: 1, streams: 1, calls: 2_000, method: "ReserveIds", message };
  const quiet: number[] = [];
  const busy: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const alone = await runGhz(servers.engine, ghz, load);
    // Longer than the calls take, at the ceiling.
    const flatOut = [
      readBatch(stage, servers.engine, ceilingPerSecond * 6),
      runH2load(servers.engine, reserving, stage.folder),
    ];
    const beside = await runGhz(servers.engine, ghz, load);
    await Promise.all(flatOut);
    if (round === 0) continue;
    quiet.push(percentile(alone.latenciesMs, 0.99));
    busy.push(percentile(beside.latenciesMs, 0.99));
    log(`round ${round} of ${rounds}`);
  }
  const [alone, beside] = [median(quiet), median(busy)];
  const finding = {
    title: "Fairness: p99 of NextId at 1,000 calls/s, ghz, in ms",
    columns: ["beside", "p99"],
    rows: [
      ["nothing", alone.toFixed(2)],
      ["one stream and one reserving client that take all they can get", beside.toFixed(2)],
    ],
  };
  return {
    finding,
    targets: [ratio("p99 of NextId within 2 while a stream and a reserving client run flat out", beside / alone, 2)],
  };
}

async function raise(folder: string) {
  const goProgram = await buildGoPeer(folder);
  const certificates = await makeCertificates();
  const tls = certificates.server;
  const servers: Servers = {
    engine: await snowlane("Snowlane, as shipped, no flags"),
    node: await snowlane("Snowlane, --http2 node", ["--http2", "node"]),
    connect: await nodePeer("Connect-Node", "connect"),
    bare: await nodePeer("bare node:http2", "bare"),
    grpcJs: await nodePeer("@grpc/grpc-js", "grpc-js"),
    grpcGo: await goPeer(goProgram, "grpc-go + bwmarrin/snowflake", "grpc"),
    connectGo: await goPeer(goProgram, "connect-go + bwmarrin/snowflake", "connect"),
    engineTls: await snowlane("Snowlane, TLS", ["--tls-cert", tls.certFile, "--tls-key", tls.keyFile]),
    goTls: await goPeer(goProgram, "grpc-go, TLS", "grpc", tls),
    floor: await floorPeer("the floor: nghttpd, one file"),
    ...(await startRustPeers(join(folder, "rust"))),
  };
  return { servers, goProgram, remove: certificates.remove };
}

/** A summary of all parts, in the order in which they were measured. */
function targetsTable(parts: readonly Part[]): Finding {
  const rows = parts.flatMap(({ targets }) =>
    targets.map(({ claim, found, isMet }) => [claim, found, isMet ? "yes" : "no"]),
  );
  return { title: "Targets", columns: ["target", "found", "met"], rows };
}

/** The service over the network. */
export const serviceBenchmark: Benchmark = {
  name: "service",
  title: "The service, by call",
  about: [
    "Each server is one process with everything that it needs. The load runs beside it on the same machine, so",
    `compare ratios. The servers take turns in ${rounds} rounds, ${latencyRounds} for the tails of h2load, after one`,
    "that warms up; the figures are medians. A tail leaves out the first second of its round. Processor time is that",
    "of the server's process, with all its threads. Snowlane is the bundle with its store; the peers store nothing.",
    "grpc-go and connect-go call bwmarrin/snowflake, which waits for the next millisecond after 4,096 IDs, as ours",
    "does. tonic and pajamax are beside them where cargo is; pajamax has no limits on its callers, and a thread for",
    "each connection. The floor of a tail is nghttpd 1.52, a server in C that answers each call with the same file: no",
    "gRPC, no ID.",
    "",
    "[Where the time of a call goes](#where-the-time-of-a-call-goes) and",
    "[test/README.md](../../test/README.md#what-nextid-may-cost-beside-servers-in-rust) explain the rows beside tonic and pajamax that miss.",
  ].join("\n"),
  packages: ["@connectrpc/connect-node", "@grpc/grpc-js"],
  run: async (log) => {
    const folder = mkdtempSync(join(tmpdir(), "snowlane-bench-service-"));
    const ghz = (await findTool("ghz")).path;
    await runCommand(process.execPath, ["tools/bundle.mjs"]);
    const { servers, goProgram, remove } = await raise(folder);
    try {
      const stage: Stage = { servers, goProgram, ghz, folder, log };
      const parts: Part[] = [];
      for (const part of [
        manyStreams,
        tenConnections,
        manyConnections,
        overTls,
        withDeadlines,
        openLoop,
        openLoopInBursts,
        openLoopGhz,
        batch,
        fairness,
      ]) {
        parts.push(await part(stage));
      }
      return [targetsTable(parts), ...parts.map(({ finding }) => finding)];
    } finally {
      await Promise.all(Object.values(servers).map((server) => server.stop()));
      remove();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
