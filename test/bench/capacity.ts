/** Measures the tail of NextId near what a server can do, while it does everything else that it may have to do. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../support/processes/run-command.ts";
import { type BenchServer, buildGoPeer, floorPeer, snowlane } from "./bench-server.ts";
import type { Benchmark, Finding } from "./benchmark.ts";
import { openConnections, unlimitedConnections } from "./idle-connections.ts";
import { interleave, median } from "./interleave.ts";
import { type LoadResult, percentile, runH2load } from "./load.ts";
import { formatFigure } from "./report.ts";
import { measureSharedPort } from "./shared-port.ts";

const rounds = 5;
const idleConnections = 10_000;
const shares = [0.25, 0.5, 0.75] as const;
const secondsEach = 6;
/** Of one stream: some five seconds at the ceiling of the layout twitter. */
const streamCount = 20_000_000;
const tailMax = 2;

/** Reads one stream after another, as fast as they come, until it is ended. */
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
    const contestants = [
      {
        name: ours.name,
        run: async () => {
          const endStream = readStreams(goProgram, ours);
          const result = await runH2load(ours, load, folder);
          await endStream();
          return result;
        },
      },
      { name: floor.name, run: () => runH2load(floor, load, folder) },
    ];
    const results = await interleave<LoadResult>(contestants, rounds, log);
    const at = (server: BenchServer, part: number): number =>
      median((results.get(server.name) ?? []).map(({ latenciesMs }) => percentile(latenciesMs, part)));
    const ratio = at(ours, 0.999) / at(floor, 0.999);
    const tails = [ours, floor].flatMap((server) => [at(server, 0.99).toFixed(2), at(server, 0.999).toFixed(2)]);
    const isMet = ratio <= tailMax ? "yes" : "no";
    rows.push([`${share * 100} %`, formatFigure(perSecond), ...tails, ratio.toFixed(2), String(tailMax), isMet]);
  }
  return {
    title: "NextId at a part of what the server can do: ms",
    note: `Beside the stream the server answers ${formatFigure(capacity)} calls a second: that is the whole.`,
    columns: ["part", "calls/s", "p99", "p99.9", "p99, floor", "p99.9, floor", "ratio of p99.9", "at most", "met"],
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
    `reached under the same load; each figure is the median of ${rounds} rounds in turn, of ${secondsEach} s. The floor is nghttpd, a`,
    "server in C that answers with a file, at the same rates: it has the idle connections, and no stream. Clients and",
    "servers share this machine's two cores, so that at a high rate all of them wait for a processor.",
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
