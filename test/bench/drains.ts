/** What it costs callers behind a proxy that one of two servers is told to end, for both kinds of HTTP/2. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GrpcIdClient } from "../support/processes/grpc-id-client.ts";
import { IdLoad } from "../support/processes/id-load.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { type ProxyKind, proxyKinds } from "../support/servers/proxies.ts";
import { startSnowlane } from "../support/processes/snowlane-process.ts";
import type { Benchmark } from "./benchmark.ts";

const rounds = 8;
const connections = 4;
const callers = 16;
const answersBefore = 500;
const answersAfter = 500;

/** Calls in one round, and how many of them failed. */
async function measureRound({ start }: ProxyKind, http2: string, storeFile: string) {
  const args = ["--http2", http2, "--store", `sqlite:${storeFile}`, "--wait-max", "60s"];
  const program = [process.execPath, "dist/main.js"];
  const startServer = () => startSnowlane({ program, args });
  const [first, second] = await Promise.all([startServer(), startServer()]);
  const upstreams = [first.address, second.address];
  const proxy = await start({ upstreams, upstreamConnections: "kept" });
  const clients = Array.from({ length: connections }, () => new GrpcIdClient(proxy.address, "own"));
  const load = new IdLoad({
    targets: () => clients,
    callerCount: callers,
    streamCount: 0,
    pauseMs: 1,
    callTimeoutMs: 60_000,
    // A call that fails is not asked again.
    requestTimeoutMs: 0,
  });
  await load.untilAnswered(answersBefore);
  await first.stop("SIGTERM");
  await load.untilAnswered(answersAfter);
  await load.stop();
  for (const client of clients) client.close();
  await second.stop("SIGTERM");
  await proxy.server.stop();
  return { calls: load.requestCount, failed: load.failedCount };
}

function sum(figures: readonly number[]): number {
  return figures.reduce((total, figure) => total + figure, 0);
}

async function measure(kind: ProxyKind, http2: string, storeFile: string): Promise<readonly string[]> {
  const found = [];
  for (let round = 0; round < rounds; round++) found.push(await measureRound(kind, http2, storeFile));
  const failed = found.map((round) => round.failed);
  const calls = sum(found.map((round) => round.calls));
  return [`${kind.name}, --http2 ${http2}`, ...[calls, sum(failed), Math.max(...failed)].map(String)];
}

/** The cost of a drain for callers that do not retry themselves. */
export const drainsBenchmark: Benchmark = {
  name: "drains",
  title: "A server that ends behind a proxy",
  about: [
    `${callers} callers on ${connections} connections ask two servers for one ID after another through a proxy, by`,
    `grpc-js without retries of their own, while one of the servers is told to end (SIGTERM). Each row is ${rounds}`,
    "such rounds. The proxies are those of test/http2/proxies.test.ts, and retry as far as they can. Clients that",
    "retry on UNAVAILABLE, as Snowlane's own do, see none of these failures.",
  ].join("\n"),
  packages: ["@grpc/grpc-js"],
  run: async (log) => {
    await runCommand(process.execPath, ["tools/bundle.mjs"]);
    const folder = mkdtempSync(join(tmpdir(), "snowlane-bench-"));
    try {
      const rows: (readonly string[])[] = [];
      for (const http2 of ["engine", "node"]) {
        for (const kind of proxyKinds) {
          const row = await measure(kind, http2, join(folder, "snowlane.db"));
          log(row.join("  "));
          rows.push(row);
        }
      }
      return [
        { title: "Calls that failed", columns: ["proxy and server", "calls", "failed", "most in a round"], rows },
      ];
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
