/** Measures how long collections of V8's young generation hold every call, by the size that it may grow to. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { runCommand } from "../support/processes/run-command.ts";
import { serveCommand, startBenchServer } from "./bench-server.ts";
import type { Benchmark } from "./benchmark.ts";
import { interleave, median } from "./interleave.ts";
import { percentile, runH2load } from "./load.ts";

const rounds = 3;
const burst = { connections: 64, streams: 32, calls: 300_000 };
const paced = { connections: 10, streams: 100, perSecond: 10_000, calls: 80_000 };
const settleMs = 1_000;
/** The values of --max-semi-space-size, in MB; undefined: V8's own. */
const sizes = [undefined, 1, 2, 4] as const;

/** What one server showed. */
interface Measured {
  readonly longestMs: number;
  readonly residentMb: number;
  readonly cpuUs: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
}

/** The time of each collection of the young generation, in a log of `--trace-gc`. */
function scavengesMs(log: string): readonly number[] {
  return [...log.matchAll(/: Scavenge .* MB, (?:pooled: [\d.]+ MB, )?([\d.]+) \/ /g)].map(([, ms]) => Number(ms));
}

/** A burst, and then calls at a rate: the pauses are those beside the rate. */
async function measure(size: number | undefined, folder: string): Promise<Measured> {
  const log = join(folder, "gc.log");
  const server = await startBenchServer({
    name: nameOf(size),
    isOurs: true,
    command: (port, ownFolder) => {
      const [node = "", ...serve] = serveCommand("dist/main.js", port, ownFolder, []);
      const flags = ["--trace-gc", ...(size === undefined ? [] : [`--max-semi-space-size=${size}`])];
      // Node writes these lines to standard output alone.
      return ["sh", "-c", `exec "$@" > ${log}`, "sh", node, ...flags, ...serve];
    },
  });
  try {
    await runH2load(server, burst, folder);
    await sleep(settleMs);
    const residentMb = server.residentMb();
    const before = readFileSync(log, "utf8").length;
    const { cpuUs, latenciesMs } = await runH2load(server, paced, folder);
    const longestMs = Math.max(0, ...scavengesMs(readFileSync(log, "utf8").slice(before)));
    return {
      longestMs,
      residentMb,
      cpuUs,
      p99Ms: percentile(latenciesMs, 0.99),
      p999Ms: percentile(latenciesMs, 0.999),
    };
  } finally {
    await server.stop();
  }
}

function nameOf(size: number | undefined): string {
  return size === undefined ? "V8's own" : String(size);
}

/** The pauses of V8's collector: docs/adr/0197. */
export const pausesBenchmark: Benchmark = {
  name: "pauses",
  title: "Pauses and memory of the runtime",
  about: [
    `A server answers ${burst.calls.toLocaleString("en-US")} calls as fast as it can, on ${burst.connections} connections.`,
    `Its resident memory is that ${settleMs / 1_000} s later. Then ${paced.perSecond.toLocaleString("en-US")} calls a second`,
    `come for ${paced.calls / paced.perSecond} s; the longest pause is that of a collection of the young generation meanwhile,`,
    `as \`--trace-gc\` tells it. Each figure is the median of ${rounds} rounds, in which the values of`,
    "`--max-semi-space-size` take turns, each with a server of its own.",
  ].join("\n"),
  packages: [],
  run: async (log) => {
    await runCommand(process.execPath, ["tools/bundle.mjs"]);
    const folder = mkdtempSync(join(tmpdir(), "snowlane-bench-"));
    try {
      const contestants = sizes.map((size) => ({ name: nameOf(size), run: () => measure(size, folder) }));
      const results = await interleave(contestants, rounds, log);
      const rows = [...results].map(([name, all]) => {
        const middle = (figure: (one: Measured) => number): number => median(all.map(figure));
        const worst = Math.max(...all.map(({ longestMs }) => longestMs));
        return [
          name,
          middle(({ longestMs }) => longestMs).toFixed(1),
          worst.toFixed(1),
          middle(({ residentMb }) => residentMb).toFixed(0),
          middle(({ cpuUs }) => cpuUs).toFixed(1),
          middle(({ p99Ms }) => p99Ms).toFixed(2),
          middle(({ p999Ms }) => p999Ms).toFixed(2),
        ];
      });
      const columns = ["MB", "longest pause, ms", "of all rounds", "resident, MB", "µs a call", "p99, ms", "p99.9, ms"];
      return [{ title: "By --max-semi-space-size", columns, rows }];
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
