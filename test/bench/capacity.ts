/** Measures the tail of NextId near what a server can do, while it does everything else that it may have to do. */
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../support/processes/run-command.ts";
import { type BenchServer, buildGoPeer, floorPeer, snowlane } from "./bench-server.ts";
import type { Benchmark, Finding } from "./benchmark.ts";
import { openConnections, unlimitedConnections } from "./idle-connections.ts";
import { interleave, median } from "./interleave.ts";
import { type LoadResult, percentile, runH2load } from "./load.ts";
import { formatFigure } from "./report.ts";
import { measureSharedPort } from "./shared-port.ts";

const rounds = 7;
const idleConnections = 10_000;
const shares = [0.25, 0.5, 0.75] as const;
const secondsEach = 6;
/** Of one stream: some five seconds at the ceiling of the layout twitter. */
const streamCount = 20_000_000;
const tailMax = 2;

/** A load beside a stream, and the share of the machine's processor time that all processes together used. */
interface BesideStream extends LoadResult {
  readonly busy: number;
}

/** Processor time of this machine so far, of all of its processors: what was used, and all, in ms. */
function machineMs(): { readonly used: number; readonly all: number } {
  const times = cpus().map((one) => one.times);
  const all = times.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0);
  return { used: all - times.reduce((sum, { idle }) => sum + idle, 0), all };
}

/** Reads one stream after another from our server, as fast as they come, until it is ended. */
function readStreams(goProgram: string, { port }: BenchServer): () => Promise<void> {
  const end = new AbortController();
  const read = async (): Promise<void> => {
    await runCommand(goProgram, ["read", `127.0.0.1:${port}`, String(streamCount)]);
    if (!end.signal.aborted) await read();
  };
  const reading = read();
  return () => {
    end.abort();
    return reading;
  };
}

/** How many calls a second a server answers, beside a stream. */
async function findCapacity(server: BenchServer, goProgram: string, folder: string): Promise<number> {
  const endStream = readStreams(goProgram, server);
  const load = { connections: 4, streams: 32, calls: 500_000 };
  await runH2load(server, load, folder);
  const rates: number[] = [];
  for (let round = 0; round < 3; round++) rates.push((await runH2load(server, load, folder)).callsPerSecond);
  await endStream();
  return median(rates);
}

async function measure(
  servers: { readonly ours: BenchServer; readonly floor: BenchServer },
  goProgram: string,
  folder: string,
  log: (line: string) => void,
): Promise<Finding> {
  const { ours, floor } = servers;
  const capacity = await findCapacity(ours, goProgram, folder);
  log(`${formatFigure(capacity)} calls/s`);
  const rows: string[][] = [];
  for (const share of shares) {
    const perSecond = Math.round((capacity * share) / 1_000) * 1_000;
    const load = { connections: 40, streams: 1_000, openEachMs: 11, perSecond, calls: perSecond * secondsEach };
    // Beside the floor, too, our server gives the stream: both have as much of the machine left.
    const contestants = [ours, floor].map((server) => ({
      name: server.name,
      run: async () => {
        const endStream = readStreams(goProgram, ours);
        const before = machineMs();
        const result = await runH2load(server, load, folder);
        const after = machineMs();
        await endStream();
        return { ...result, busy: (after.used - before.used) / (after.all - before.all) };
      },
    }));
    const results = await interleave<BesideStream>(contestants, rounds, log);
    const each = (server: BenchServer, part: number): number[] =>
      (results.get(server.name) ?? []).map(({ latenciesMs }) => percentile(latenciesMs, part));
    const floors = each(floor, 0.999);
    const ratio = median(each(ours, 0.999).map((tail, round) => tail / floors[round]!));
    const tails = [ours, floor].flatMap((server) => [0.99, 0.999].map((part) => median(each(server, part)).toFixed(2)));
    const busy = median((results.get(ours.name) ?? []).map((one) => one.busy));
    const isMet = ratio <= tailMax ? "yes" : "no";
    const verdict = [ratio.toFixed(2), String(tailMax), isMet];
    rows.push([`${share * 100} %`, formatFigure(perSecond), `${(100 * busy).toFixed(0)} %`, ...tails, ...verdict]);
  }
  return {
    title: "NextId at a part of what the server can do: ms",
    note: `Beside the stream the server answers ${formatFigure(capacity)} calls a second: that is the whole.`,
    columns: [
      "part",
      "calls/s",
      "machine busy",
      "p99",
      "p99.9",
      "p99, floor",
      "p99.9, floor",
      "ratio of p99.9",
      "at most",
      "met",
    ],
    rows,
  };
}

/** The tail near the capacity. */
export const capacityBenchmark: Benchmark = {
  name: "capacity",
  title: "Near its capacity, with everything at once",
  about: [
    `The server renews its window as always, ${idleConnections.toLocaleString("en-US")} connections are open and idle, and a program in Go reads`,
    "streams of IDs as fast as they come. NextId by h2load, open loop, comes at a part of the rate that the server",
    `reached under the same load; each figure is the median of ${rounds} rounds in turn, of ${secondsEach} s, and each ratio the median`,
    "of those of the rounds. The floor is nghttpd, a server in C that answers with a file, at the same rates: it has the",
    "idle connections, and Snowlane gives the stream beside it. Clients and servers share this machine's two cores, so",
    "that at a high rate all of them wait for one: the ratio then differs from run to run, as the scheduler has it.",
  ].join("\n"),
  packages: [],
  run: async (log) => {
    const folder = mkdtempSync(join(tmpdir(), "snowlane-bench-capacity-"));
    await runCommand(process.execPath, ["tools/bundle.mjs"]);
    const goProgram = await buildGoPeer(folder);
    const shared = await measureSharedPort(folder, log);
    const servers = { ours: await snowlane("Snowlane", unlimitedConnections), floor: await floorPeer("nghttpd") };
    const holders = await openConnections(servers.ours.port, idleConnections);
    holders.push(...(await openConnections(servers.floor.port, idleConnections)));
    try {
      return [await measure(servers, goProgram, folder, log), shared];
    } finally {
      for (const holder of holders) holder.kill();
      await Promise.all(Object.values(servers).map((server) => server.stop()));
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
