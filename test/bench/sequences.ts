/** What a value of a sequence costs: for the server, for its caller, in memory, and for the database. */
import { type Client, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createNodeClient } from "../../clients/typescript/src/node.ts";
import { Allocation, SequenceService } from "../../src/gen/snowlane/v1/sequence_service_pb.ts";
import { SegmentBuffer } from "../../src/sequence/segment-buffer.ts";
import type { RecordStore } from "../../src/store/record-store.ts";
import { openStore } from "../../src/store/open-store.ts";
import { completeDefinition, onlyStripe } from "../../src/sequence/sequence.ts";
import { liveMemoryFlags, liveMb } from "../support/processes/live-memory.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { startSnowlane } from "../support/processes/snowlane-process.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { snowlane } from "./bench-server.ts";
import type { Benchmark, Finding } from "./benchmark.ts";
import { runCallLoad } from "./call-load.ts";
import { interleave, median } from "./interleave.ts";
import { percentile, runH2load } from "./load.ts";
import { formatFigure } from "./report.ts";
import {
  mariadbSchemes,
  measureScheme,
  postgresSchemes,
  redisSchemes,
  type Scheme,
  schemeRounds,
  type Stops,
} from "./schemes.ts";

const rounds = 5;
const nameCount = 1_000;
const namesInMemory = 10_000;
const callCount = 200_000;

type Log = (line: string) => void;

function sequencesAt(port: number): Client<typeof SequenceService> {
  return createClient(SequenceService, createGrpcTransport({ baseUrl: `http://127.0.0.1:${port}` }));
}

const nameOf = (index: number): string => `orders-${index}`;

/** A request for a value, or for `count` values. */
function requestOf(name: string, count?: number): Buffer {
  const text = Buffer.from(name);
  return Buffer.concat([Buffer.of(0x0a, text.length), text, Buffer.from(count === undefined ? [] : [0x10, count])]);
}

/** Makes sequences, and takes a value of each, so that all are in memory. */
async function makeSequences(port: number, count: number): Promise<void> {
  const sequences = sequencesAt(port);
  for (let first = 0; first < count; first += 100) {
    const names = Array.from({ length: Math.min(100, count - first) }, (_, index) => nameOf(first + index));
    await Promise.all(names.map((name) => sequences.createSequence({ sequence: { name, stepMin: 10_000n } })));
    await Promise.all(names.map((name) => sequences.nextValue({ name })));
  }
}

const patient = ["--wait-max", "60s", "--sequence-store-timeout", "60s"];

async function callCosts(log: Log): Promise<readonly Finding[]> {
  const server = await snowlane("Snowlane", patient);
  const folder = mkdtempSync(join(tmpdir(), "snowlane-bench-"));
  try {
    await makeSequences(server.port, nameCount);
    const names = Array.from({ length: nameCount }, (_, index) => requestOf(nameOf(index)));
    const one = [requestOf(nameOf(0))];
    const service = "snowlane.v1.SequenceService";
    const loads = {
      NextId: { method: "snowlane.v1.IdService/NextId", messages: [Buffer.alloc(0)] },
      "NextValue, one name": { method: `${service}/NextValue`, messages: one },
      "NextValue, 1,000 names in turn": { method: `${service}/NextValue`, messages: names },
      "ReserveValues of 8, one name": { method: `${service}/ReserveValues`, messages: [requestOf(nameOf(0), 8)] },
    };
    const contestants = Object.entries(loads).map(([name, load]) => ({
      name,
      run: () => runCallLoad(server, { ...load, calls: callCount }),
    }));
    const results = await interleave(contestants, rounds, log);
    const cpuUs = (name: string): number => median((results.get(name) ?? []).map((result) => result.cpuUs));
    const base = cpuUs("NextId");
    const costs = {
      title: "Processor time of the server for one call, gRPC on the engine",
      columns: ["call", "µs", "of NextId"],
      rows: contestants.map(({ name }) => [name, formatFigure(cpuUs(name)), (cpuUs(name) / base).toFixed(2)]),
    };
    return [costs, await tails(server, folder, log)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await server.stop();
  }
}

/** 10,000 calls/s, as `npm run bench service` measures NextId. */
async function tails(server: Parameters<typeof runH2load>[0], folder: string, log: Log): Promise<Finding> {
  const paced = { calls: 50_000, perSecond: 10_000, streams: 100, connections: 40, openEachMs: 11 };
  const value = { service: "snowlane.v1.SequenceService", method: "NextValue", message: [...requestOf(nameOf(0))] };
  const contestants = [
    { name: "NextId", run: () => runH2load(server, paced, folder) },
    { name: "NextValue", run: () => runH2load(server, { ...paced, ...value }, folder) },
  ];
  const results = await interleave(contestants, rounds, log);
  const at = (name: string, share: number): string =>
    formatFigure(median((results.get(name) ?? []).map(({ latenciesMs }) => percentile(latenciesMs, share))));
  return {
    title: "10,000 calls/s, open loop, h2load: latency in ms",
    columns: ["call", "p50", "p99", "p99.9"],
    rows: contestants.map(({ name }) => [name, at(name, 0.5), at(name, 0.99), at(name, 0.999)]),
  };
}

/** Ours beside the counters that people use, in one interleaved run. */
async function besideOthers(log: Log): Promise<Finding> {
  const stops: Stops = [];
  try {
    const schemes: Scheme[] = [];
    for (const raise of [ourSchemes, redisSchemes, postgresSchemes, mariadbSchemes])
      schemes.push(...(await raise(stops)));
    const counters = schemes.filter(({ name }) => !name.includes("Lua"));
    const contestants = counters.map(({ name, next }) => ({ name, run: () => measureScheme(next) }));
    const results = await interleave(contestants, schemeRounds, log);
    return {
      title: "What a caller waits, and gets",
      columns: ["counter", "µs, one at a time", "p99", "values/s, 64 callers"],
      rows: counters.map(({ name }) => {
        const found = results.get(name) ?? [];
        const [us, p99, rate] = [
          median(found.map(({ medianUs }) => medianUs)),
          median(found.map(({ p99Us }) => p99Us)),
          median(found.map(({ perSecond }) => perSecond)),
        ];
        return [name, formatFigure(us), formatFigure(p99), formatFigure(rate)];
      }),
    };
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
}

async function ourSchemes(stops: Stops): Promise<Scheme[]> {
  const database = await startPostgres(["-c", "fsync=on"]);
  stops.push(() => database.stop());
  const server = await snowlane("Snowlane", [...patient, "--sequence-stores", database.url]);
  stops.push(() => server.stop());
  await makeSequences(server.port, 1);
  await sequencesAt(server.port).createSequence({ sequence: { name: "strict", allocation: Allocation.STRICT } });
  const client = createNodeClient({ endpoints: [`http://127.0.0.1:${server.port}`] });
  stops.push(() => client.close());
  const [segments, strict] = [client.sequence(nameOf(0)), client.sequence("strict")];
  return [
    { name: "Snowlane, segments, by our client", isOurs: true, next: () => segments.nextValue() },
    { name: "Snowlane, strict on PostgreSQL, by our client", isOurs: true, next: () => strict.nextValue() },
  ];
}

const stored: bigint[] = Array.from({ length: 1_000_000 });

/** The pure buffer, with segments that are always there; and beside it what it cannot go below. */
async function bufferAlone(log: Log): Promise<Finding> {
  const buffer = new SegmentBuffer(completeDefinition({ name: "orders" }));
  let firstIndex = 0n;
  const fromBuffer = (): void => {
    for (let index = 0; index < stored.length; ) {
      if (buffer.isDue && buffer.wants(0, 0) !== undefined) {
        buffer.arrived({ firstIndex, count: stored.length, writeId: "", stripe: onlyStripe }, 0);
        firstIndex += BigInt(stored.length);
      }
      const value = buffer.tryNext();
      if (value !== undefined) stored[index++] = value;
    }
  };
  let sum = 0n;
  const byAddition = (): void => {
    for (let index = 0; index < stored.length; index++) stored[index] = sum += 1n;
  };
  const contestants = [
    { name: "tryNext and isDue", run: () => nsOfEach(fromBuffer) },
    { name: "one addition of a bigint, without the buffer", run: () => nsOfEach(byAddition) },
  ];
  const results = await interleave(contestants, 15, log);
  return {
    title: "The buffer alone, in process: processor time",
    columns: ["step", "ns a value, median round"],
    rows: contestants.map(({ name }) => [name, formatFigure(median(results.get(name) ?? []))]),
  };
}

function nsOfEach(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return ((user + system) * 1_000) / stored.length;
}

/** Starts a server on a store of its own, whose memory can be asked for. */
async function startWeighed(folder: string, flags: readonly string[]) {
  const program = [process.execPath, ...liveMemoryFlags, "dist/main.js"];
  const store = `sqlite:${join(mkdtempSync(join(folder, "store-")), "snowlane.db")}`;
  return startSnowlane({ program, args: ["--store", store, ...flags] });
}

async function memoryOfNames(): Promise<Finding> {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-bench-"));
  const without = await startWeighed(folder, ["--sequence-stores", "off"]);
  const off = await liveMb(without);
  await without.stop("SIGTERM");
  const server = await startWeighed(folder, patient);
  try {
    const port = Number(server.address.split(":")[1]);
    const unused = await liveMb(server);
    await makeSequences(port, 1);
    const one = await liveMb(server);
    await makeSequences(port, namesInMemory);
    const many = await liveMb(server);
    return {
      title: "Memory in use, after all garbage was collected",
      columns: ["sequences in memory", "MB", "more than with one"],
      rows: [
        ["--sequence-stores off", off.toFixed(1), "–"],
        ["none used", unused.toFixed(1), "–"],
        ["1", one.toFixed(1), "–"],
        [namesInMemory.toLocaleString("en-US"), many.toFixed(1), (many - one).toFixed(1)],
      ],
    };
  } finally {
    await server.stop("SIGTERM");
    rmSync(folder, { recursive: true, force: true });
  }
}

const strictCount = 200;
const renewals = 500;

/** How long a write to the worker records takes, beside strict sequences that write as fast as they can. */
async function renewalsBesideStrict(): Promise<Finding> {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-bench-"));
  const url = `sqlite:${join(folder, "snowlane.db")}`;
  const server = await startSnowlane({
    program: [process.execPath, "dist/main.js"],
    args: ["--store", url, ...patient],
  });
  const store = await openStore(url, { namespace: "bench", callTimeoutMs: 60_000 });
  try {
    const idle = await writeLatencies(store);
    const sequences = sequencesAt(Number(server.address.split(":")[1]));
    const names = Array.from({ length: strictCount }, (_, index) => `strict-${index}`);
    const strict = { allocation: Allocation.STRICT };
    await Promise.all(names.map((name) => sequences.createSequence({ sequence: { name, ...strict } })));
    const over = new AbortController();
    let values = 0;
    const callers = names.map(async (name) => {
      for (; !over.signal.aborted; values++) await sequences.nextValue({ name });
    });
    const busy = await writeLatencies(store);
    over.abort();
    await Promise.all(callers);
    return {
      title: `SQLite: one write to the worker records, of ${renewals}, in ms`,
      note: `Such a write is what renews a worker ID. ${values.toLocaleString("en-US")} values were taken meanwhile.`,
      columns: ["beside it", "p50", "p99", "longest"],
      rows: [latencyRow("nothing", idle), latencyRow(`${strictCount} strict sequences, one caller each`, busy)],
    };
  } finally {
    await store.close();
    await server.stop("SIGTERM");
    rmSync(folder, { recursive: true, force: true });
  }
}

function latencyRow(name: string, latenciesMs: readonly number[]): readonly string[] {
  return [name, ...[0.5, 0.99, 1].map((share) => formatFigure(percentile(latenciesMs, share)))];
}

/** Latencies of compare-and-set, rising. */
async function writeLatencies(store: RecordStore): Promise<readonly number[]> {
  const latenciesMs: number[] = [];
  let { entry } = await store.read("probe");
  for (let count = 0; count < renewals; count++) {
    const startMs = performance.now();
    const answer = await store.compareAndSet("probe", entry, `{"count":${count}}`);
    latenciesMs.push(performance.now() - startMs);
    if (answer.kind !== "applied") throw new Error(`the write was answered ${answer.kind}`);
    ({ entry } = answer);
  }
  return latenciesMs.toSorted((a, b) => a - b);
}

/** Takes of one sequence with the default steps, counted on a clock that is only reckoned with. */
function takesOf(perSecond: number): { readonly firstMinute: number; readonly laterPerMinute: number } {
  const buffer = new SegmentBuffer(completeDefinition({ name: "orders" }));
  const stepMs = Math.max(10, 1_000 / perSecond);
  const minuteMs = 60_000;
  const minutes = 120;
  let firstIndex = 0n;
  const takes = Array.from({ length: minutes }, () => 0);
  let owed = 0;
  for (let nowMs = 1; nowMs < minutes * minuteMs; nowMs += stepMs) {
    owed += (perSecond * stepMs) / 1_000;
    while (owed >= 1) {
      const count = buffer.wants(nowMs, buffer.stockCount === 0 ? Math.floor(owed) : 0);
      if (count !== undefined) {
        takes[Math.floor(nowMs / minuteMs)]!++;
        buffer.arrived({ firstIndex, count, writeId: "", stripe: onlyStripe }, nowMs);
        firstIndex += BigInt(count);
      }
      owed -= buffer.takeRun(Math.floor(owed))?.count ?? 0;
    }
  }
  const later = takes.slice(minutes / 2);
  return { firstMinute: takes[0]!, laterPerMinute: later.reduce((sum, count) => sum + count, 0) / later.length };
}

function takesAMinute(): Finding {
  return {
    title: "Takes from the database by one server, with the default steps",
    note: "Each take is one write, and nothing else is written. Reckoned, not measured: the buffer on a made-up clock.",
    columns: ["values/s", "takes in the first minute", "takes a minute, in the second hour"],
    rows: [10, 1_000, 100_000].map((perSecond) => {
      const { firstMinute, laterPerMinute } = takesOf(perSecond);
      return [perSecond.toLocaleString("en-US"), String(firstMinute), laterPerMinute.toFixed(2)];
    }),
  };
}

/** Sequences beside IDs, and beside the counters that people use. */
export const sequencesBenchmark: Benchmark = {
  name: "sequences",
  title: "Values of sequences",
  about: [
    `The server is one process with sequences in SQLite, but in "What a caller waits": there they are in PostgreSQL.`,
    `The load runs beside it on the same machine, so compare ratios. Calls take turns in ${rounds} rounds of`,
    `${callCount.toLocaleString("en-US")} calls, after one that warms up; the figures are medians. The load of the`,
    "first table is 4 connections of 32 streams, whose messages differ where there are 1,000 names. We want: NextValue at",
    "most 1.5 times NextId with one name and 1.7 times with 1,000, ReserveValues within 1.5 times NextValue, a p99 below",
    "1 ms, 25 ns for the buffer alone, 20 MB for 10,000 names, and a write of the worker records within 50 ms at p99.",
  ].join("\n"),
  packages: ["@connectrpc/connect-node", "@redis/client", "pg", "mysql2"],
  run: async (log) => {
    await runCommand(process.execPath, ["tools/bundle.mjs"]);
    const findings = [...(await callCosts(log)), await bufferAlone(log), takesAMinute()];
    log("beside other counters");
    findings.push(await besideOthers(log));
    log("memory");
    findings.push(await memoryOfNames());
    log("beside strict sequences");
    return [...findings, await renewalsBesideStrict()];
  },
};
