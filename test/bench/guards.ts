/** Measures what metrics, tokens and quotas cost a call, and what a scrape costs the server. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../support/processes/run-command.ts";
import { type BenchServer, snowlane } from "./bench-server.ts";
import type { Benchmark, Finding } from "./benchmark.ts";
import { measureGuardLatencies } from "./guard-latencies.ts";
import { interleave, median } from "./interleave.ts";
import { type LoadResult, runH2load } from "./load.ts";
import { writePrincipal } from "./principal.ts";
import { formatFigure } from "./report.ts";

/** For a sanity run: `SNOWLANE_BENCH_ROUNDS=2`. */
const rounds = Number(process.env["SNOWLANE_BENCH_ROUNDS"] ?? 15);
const scrapes = 10_000;

/** So many calls that the system's steps of 10 ms are below a hundredth. */
const loads = [
  { title: "4 connections of 32 streams", connections: 4, streams: 32, calls: 2_000_000, onlyMetricsMax: 1.02 },
  { title: "100 connections of one stream", connections: 100, streams: 1, calls: 300_000, onlyMetricsMax: 1.05 },
] as const;

interface Guarded {
  readonly server: BenchServer;
  readonly headers: Readonly<Record<string, string>>;
  /** The most that a call may cost, as a part of what it costs without any; undefined for that itself. */
  readonly limit: (load: (typeof loads)[number]) => number | undefined;
}

async function compare(servers: readonly Guarded[], folder: string, log: (line: string) => void): Promise<Finding> {
  const rows: (readonly string[])[] = [];
  for (const load of loads) {
    log(load.title);
    const contestants = servers.map(({ server, headers }) => ({
      name: server.name,
      run: () => runH2load(server, { ...load, headers }, folder),
    }));
    const results = await interleave<LoadResult>(contestants, rounds, log);
    const costs = (server: BenchServer): readonly number[] =>
      (results.get(server.name) ?? []).map(({ cpuUs }) => cpuUs);
    const base = costs(servers[0]!.server);
    for (const { server, limit } of servers) {
      const own = costs(server);
      // Round by round: what else the machine does then meets both alike.
      const share = median(own.map((cost, round) => cost / base[round]!));
      const most = limit(load);
      const judged = most === undefined ? ["", ""] : [most.toFixed(2), share <= most ? "yes" : "no"];
      rows.push([load.title, server.name, median(own).toFixed(3), share.toFixed(3), ...judged]);
    }
  }
  return {
    title: "NextId, h2load, engine: µs of processor a call",
    columns: ["load", "server", "µs", "beside --metrics off", "at most", "met"],
    rows,
  };
}

async function scrapeMany({ port }: BenchServer, count: number): Promise<void> {
  for (let done = 0; done < count; done++) {
    const response = await fetch(`http://127.0.0.1:${port}/metrics`);
    if (response.status !== 200) throw new Error(`GET /metrics was answered with ${response.status}`);
    await response.text();
  }
}

async function measureScrapes(server: BenchServer, log: (line: string) => void): Promise<Finding> {
  log(`${scrapes} scrapes`);
  await scrapeMany(server, scrapes / 2);
  const beforeUs = server.cpuUs();
  await scrapeMany(server, scrapes);
  const eachUs = (server.cpuUs() - beforeUs) / scrapes;
  return {
    title: `GET /metrics, ${scrapes.toLocaleString("en-US")} times, after half as many`,
    columns: ["µs of processor a scrape"],
    rows: [[formatFigure(eachUs)]],
  };
}

/** The cost of metrics, tokens and quotas. */
export const guardsBenchmark: Benchmark = {
  name: "guards",
  title: "What metrics, tokens and quotas cost",
  about: [
    `The same server with other settings, in turn in ${rounds} rounds after one that warms up. The column beside`,
    "`--metrics off` is the median of the ratios of each round. The principal has a token, and a quota that it never",
    "reaches. Refused tokens, and one principal at ten times its quota beside another, are measured by calls at a steady",
    "rate; each figure is the median of the rounds.",
  ].join("\n"),
  packages: [],
  run: async (log) => {
    const folder = mkdtempSync(join(tmpdir(), "snowlane-bench-guards-"));
    const { path, headers } = writePrincipal(folder);
    await runCommand(process.execPath, ["tools/bundle.mjs"]);
    const servers: Guarded[] = [
      { server: await snowlane("--metrics off", ["--metrics", "off"]), headers: {}, limit: () => undefined },
      { server: await snowlane("metrics"), headers: {}, limit: ({ onlyMetricsMax }) => onlyMetricsMax },
      { server: await snowlane("metrics, token, quota", ["--principals", path]), headers, limit: () => 1.05 },
    ];
    try {
      return [
        await compare(servers, folder, log),
        await measureScrapes(servers[1]!.server, log),
        ...(await measureGuardLatencies(folder, rounds, log)),
      ];
    } finally {
      await Promise.all(servers.map(({ server }) => server.stop()));
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
