/** Measures what metrics, tokens, quotas and tracing cost a call, and what scrapes and refused callers cost. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../support/processes/run-command.ts";
import { type BenchServer, snowlane } from "./bench-server.ts";
import type { Benchmark, Finding } from "./benchmark.ts";
import { measureGuardLatencies } from "./guard-latencies.ts";
import { interleave, median, medianShare } from "./interleave.ts";
import { type LoadResult, runH2load } from "./load.ts";
import { writePrincipal } from "./principal.ts";
import { measurePrincipals } from "./principals-memory.ts";
import { measureScrapes } from "./scrapes.ts";

/** For a sanity run: `SNOWLANE_BENCH_ROUNDS=2`. */
const rounds = Number(process.env["SNOWLANE_BENCH_ROUNDS"] ?? 15);

/**
 * Enough calls that the system's steps of 10 ms are below a hundredth. With a call a connection two equal rows differ
 * by some hundredths: nothing is judged more closely there.
 */
const loads = [
  {
    title: "4 connections of 32 streams",
    load: { connections: 4, streams: 32, calls: 2_000_000 },
    most: { metrics: 1.02, tokens: 1.05, tracing: 1.01 },
  },
  {
    title: "100 connections of one stream",
    load: { connections: 100, streams: 1, calls: 300_000 },
    most: { metrics: 1.05, tokens: 1.05, tracing: 1.05 },
  },
] as const;

const [off, metrics] = ["--metrics off", "metrics"] as const;
/** The same field comes where nobody looks at it, so that the field itself is in no share. */
const [offWithToken, unsampled] = ["--metrics off, a token that is not looked at", "metrics, a traceparent"] as const;
const traceparent = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00" };
/** Nobody listens there: no span is ever sent. */
const receiver = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" };

interface Guarded {
  readonly name: string;
  readonly server: BenchServer;
  readonly headers: Readonly<Record<string, string>>;
  /** The row that it is compared with. */
  readonly beside: string;
  /** By which limit a call's share of what it costs there is judged; absent for a row that others stand beside. */
  readonly limit?: keyof (typeof loads)[number]["most"];
}

async function compare(guarded: readonly Guarded[], folder: string, log: (line: string) => void): Promise<Finding> {
  const rows: (readonly string[])[] = [];
  for (const { title, load, most } of loads) {
    log(title);
    const contestants = guarded.map(({ name, server, headers }) => ({
      name,
      run: () => runH2load(server, { ...load, headers }, folder),
    }));
    const results = await interleave<LoadResult>(contestants, rounds, log);
    const costs = (name: string): readonly number[] => (results.get(name) ?? []).map(({ cpuUs }) => cpuUs);
    for (const { name, beside, limit } of guarded) {
      const [own, base] = [costs(name), costs(beside)];
      const share = medianShare(own, base);
      const judged = limit === undefined ? ["", ""] : [most[limit].toFixed(2), share <= most[limit] ? "yes" : "no"];
      rows.push([title, name, median(own).toFixed(3), beside, share.toFixed(3), ...judged]);
    }
  }
  return {
    title: "NextId, h2load, engine: µs of processor a call",
    columns: ["load", "server", "µs", "beside", "share", "at most", "met"],
    rows,
  };
}

/** The cost of metrics, tokens and quotas. */
export const guardsBenchmark: Benchmark = {
  name: "guards",
  title: "What metrics, tokens, quotas and tracing cost",
  about: [
    `The same server with other settings, in turn in ${rounds} rounds after one that warms up. A share is the median of`,
    "the ratios of each round to the row that is named beside it. The principal has a token, and a quota that it never",
    "reaches. Where calls are traced, every call has a `traceparent` that says that it is not sampled. A field of a",
    "request costs something of itself: nghttp2 sends `authorization` whole with every call. So a row with a field",
    "stands beside one that has the field and does not look at it, and that one beside a row without.",
  ].join("\n"),
  packages: [],
  run: async (log) => {
    const folder = mkdtempSync(join(tmpdir(), "snowlane-bench-guards-"));
    const { path, headers } = writePrincipal(folder);
    await runCommand(process.execPath, ["tools/bundle.mjs"]);
    const servers = {
      off: await snowlane(off, ["--metrics", "off"]),
      metrics: await snowlane(metrics),
      tokens: await snowlane("tokens", ["--principals", path]),
      tracing: await snowlane("tracing", [], "dist/main.js", receiver),
    };
    const guarded: readonly Guarded[] = [
      { name: off, server: servers.off, headers: {}, beside: off },
      { name: metrics, server: servers.metrics, headers: {}, beside: off, limit: "metrics" },
      { name: offWithToken, server: servers.off, headers, beside: off },
      { name: "metrics, token, quota", server: servers.tokens, headers, beside: offWithToken, limit: "tokens" },
      { name: unsampled, server: servers.metrics, headers: traceparent, beside: metrics },
      {
        name: "metrics, tracing, none sampled",
        server: servers.tracing,
        headers: traceparent,
        beside: unsampled,
        limit: "tracing",
      },
    ];
    try {
      return [await compare(guarded, folder, log)];
    } finally {
      await Promise.all(Object.values(servers).map((server) => server.stop()));
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** The cost of all but calls that are served: scrapes, principals in memory, callers that are refused. */
export const refusalsBenchmark: Benchmark = {
  name: "refusals",
  title: "Scrapes, principals, and callers that are refused",
  about: [
    "Refused tokens, and one principal at ten times its quota beside another, are measured by calls at a steady rate;",
    `each figure is the median of ${rounds} rounds.`,
  ].join("\n"),
  packages: [],
  run: async (log) => {
    const folder = mkdtempSync(join(tmpdir(), "snowlane-bench-refusals-"));
    await runCommand(process.execPath, ["tools/bundle.mjs"]);
    try {
      return [
        await measureScrapes(folder, log),
        await measurePrincipals(folder, log),
        ...(await measureGuardLatencies(folder, rounds, log)),
      ];
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
