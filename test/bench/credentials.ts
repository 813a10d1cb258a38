/** Measures NextId for callers that show a token or a client certificate, beside grpc-go. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeCertificates } from "../support/processes/certificates.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { type BenchServer, buildGoPeer, goPeer, snowlane } from "./bench-server.ts";
import type { Benchmark, Finding } from "./benchmark.ts";
import { runCallLoad } from "./call-load.ts";
import { interleave, median, medianShare } from "./interleave.ts";
import { type LoadResult, runH2load } from "./load.ts";
import { writePrincipal } from "./principal.ts";
import { formatFigure } from "./report.ts";

/** For a sanity run: `SNOWLANE_BENCH_ROUNDS=1`. */
const rounds = Number(process.env["SNOWLANE_BENCH_ROUNDS"] ?? 5);

interface Row {
  readonly server: BenchServer;
  readonly run: (server: BenchServer) => Promise<LoadResult>;
  /** The most that a call may cost of what it costs the last row. */
  readonly atMost?: number;
}

/** One table, whose last row is the peer. */
async function compare(title: string, rows: readonly Row[], log: (line: string) => void): Promise<Finding> {
  log(title);
  const contestants = rows.map(({ server, run }) => ({ name: server.name, run: () => run(server) }));
  const results = await interleave<LoadResult>(contestants, rounds, log);
  const costs = (name: string): readonly number[] => (results.get(name) ?? []).map(({ cpuUs }) => cpuUs);
  const peer = costs(rows.at(-1)!.server.name);
  return {
    title,
    columns: ["server", "calls/s", "µs of processor a call", "of grpc-go", "at most", "met"],
    rows: rows.map(({ server: { name }, atMost }) => {
      const own = costs(name);
      const share = medianShare(own, peer);
      const judged = atMost === undefined ? ["", ""] : [atMost.toFixed(2), share <= atMost ? "yes" : "no"];
      const rate = median((results.get(name) ?? []).map(({ callsPerSecond }) => callsPerSecond));
      return [name, formatFigure(rate), formatFigure(median(own)), share.toFixed(3), ...judged];
    }),
  };
}

/** Callers with tokens and with client certificates. */
export const credentialsBenchmark: Benchmark = {
  name: "credentials",
  title: "Callers with tokens and client certificates, beside grpc-go",
  about: [
    `Each server has a process of its own; they take turns in ${rounds} rounds after one that warms up. The principal`,
    "has a token, a client certificate, and a quota that it never reaches. grpc-go looks at no token and counts nothing.",
    "Over TLS it asks for client certificates as Snowlane does, and looks for no name in them. A share is the median of",
    "the ratios of each round.",
  ].join("\n"),
  packages: [],
  run: async (log) => {
    const folder = mkdtempSync(join(tmpdir(), "snowlane-bench-credentials-"));
    const { path, headers } = writePrincipal(folder);
    const { caFile, server: own, client, remove } = await makeCertificates();
    await runCommand(process.execPath, ["tools/bundle.mjs"]);
    const goProgram = await buildGoPeer(folder);
    const principals = ["--principals", path];
    const tls = ["--tls-cert", own.certFile, "--tls-key", own.keyFile];
    const servers = {
      plain: await snowlane("Snowlane, no flags"),
      tokens: await snowlane("engine, metrics and tokens", principals),
      go: await goPeer(goProgram, "grpc-go", "grpc"),
      tls: await snowlane("Snowlane, TLS", tls),
      mtls: await snowlane("engine, mTLS", [...tls, "--tls-client-ca", caFile, ...principals]),
      goMtls: await goPeer(goProgram, "grpc-go, mTLS", "grpc", { ...own, clientCaFile: caFile }),
    };
    const h2load = (fields: Readonly<Record<string, string>>, calls: number) => (server: BenchServer) =>
      runH2load(server, { connections: 4, streams: 32, calls, headers: fields }, folder);
    const withTls = (shown: Partial<typeof client>) => (server: BenchServer) =>
      runCallLoad(server, {
        method: "snowlane.v1.IdService/NextId",
        messages: [new Uint8Array(0)],
        calls: 100_000,
        tls: { caFile, ...shown },
      });
    try {
      const tokens = "NextId, h2load, 4 connections of 32 streams";
      const certificates = "NextId over TLS, frames made by hand, 4 connections of 32 streams";
      return [
        await compare(
          tokens,
          [
            { server: servers.plain, run: h2load({}, 500_000), atMost: 1 / 6 },
            { server: servers.tokens, run: h2load(headers, 500_000), atMost: 1 / 6 },
            { server: servers.go, run: h2load({}, 120_000) },
          ],
          log,
        ),
        await compare(
          certificates,
          [
            { server: servers.tls, run: withTls({}) },
            { server: servers.mtls, run: withTls(client), atMost: 1 },
            { server: servers.goMtls, run: withTls(client) },
          ],
          log,
        ),
      ];
    } finally {
      await Promise.all(Object.values(servers).map((server) => server.stop()));
      remove();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
