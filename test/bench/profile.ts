/** Measures where the time of NextId goes: a profile of the server under the loads of service.ts. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BenchServer, serveCommand, startBenchServer } from "./bench-server.ts";
import type { Benchmark } from "./benchmark.ts";
import { type H2load, type LoadResult, runH2load } from "./load.ts";
import { formatFigure } from "./report.ts";

type Load = Pick<H2load, "connections" | "streams" | "calls">;

const loads: readonly Load[] = [
  { connections: 4, streams: 32, calls: 3_000_000 },
  { connections: 10, streams: 10, calls: 2_000_000 },
  { connections: 100, streams: 1, calls: 600_000 },
];
const warmUpCalls = 200_000;
/** Samples are taken so often. */
const sampleUs = 500;

/** A profile as V8 writes it: https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-Profile. */
interface CpuProfile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: CallFrame }[];
  /** µs of the monotonic clock. */
  readonly startTime: number;
  /** Node IDs. */
  readonly samples: readonly number[];
  /** µs from the sample before, or from the start. */
  readonly timeDeltas: readonly number[];
}

interface CallFrame {
  readonly functionName: string;
  readonly url: string;
}

/** A part of a call; the first whose pattern a frame's file fits has its time. */
const partsByFile: readonly (readonly [name: string, file: RegExp])[] = [
  ["HTTP/2: frames, HPACK, streams (src/http2)", /\/src\/http2\//],
  ["the call: sockets to the engine, route, guards, metrics (src/server)", /\/src\/server\//],
  ["the ID: generator, clock, message (other files of src)", /\/src\//],
  ["streams and sockets of Node in JavaScript", /^node:/],
];
const parts = { garbage: "garbage collector", native: "Node, libuv and V8 in C++", kernel: "the kernel" } as const;

/** The part of a frame; undefined where the process waits. */
function partOf({ functionName, url }: CallFrame): string | undefined {
  if (functionName === "(idle)") return undefined;
  if (functionName === "(garbage collector)") return parts.garbage;
  return partsByFile.find(([, file]) => file.test(url))?.[0] ?? parts.native;
}

/** The share of each part in the time that the thread worked, from `fromUs` to `untilUs` of the monotonic clock. */
function sharesOf(profile: CpuProfile, fromUs: number, untilUs: number): ReadonlyMap<string, number> {
  const partById = new Map(profile.nodes.map(({ id, callFrame }) => [id, partOf(callFrame)]));
  const sums = new Map<string, number>();
  let nowUs = profile.startTime;
  for (const [index, id] of profile.samples.entries()) {
    const tookUs = profile.timeDeltas[index]!;
    nowUs += tookUs;
    const part = partById.get(id);
    if (part === undefined || nowUs < fromUs || nowUs > untilUs) continue;
    sums.set(part, (sums.get(part) ?? 0) + tookUs);
  }
  const totalUs = Array.from(sums.values()).reduce((sum, one) => sum + one, 0);
  return new Map(Array.from(sums, ([part, us]) => [part, us / totalUs]));
}

/** The profile of the thread that serves calls: the one with the most kinds of frames of the engine. */
function readProfile(folder: string): CpuProfile {
  const profiles = readdirSync(folder).map(
    (file) => JSON.parse(readFileSync(join(folder, file), "utf8")) as CpuProfile,
  );
  const framesOfEngine = ({ nodes }: CpuProfile): number =>
    nodes.filter(({ callFrame }) => callFrame.url.includes("/src/http2/")).length;
  const [first] = profiles.toSorted((a, b) => framesOfEngine(b) - framesOfEngine(a));
  if (first === undefined) throw new Error("the server left no profile");
  return first;
}

const monotonicUs = (): number => Number(process.hrtime.bigint() / 1_000n);

/** µs of processor a call, by part, and their sum. */
async function measure(load: Load, folder: string): Promise<ReadonlyMap<string, number>> {
  const profiles = join(folder, `${load.connections}`);
  mkdirSync(profiles);
  const profiler = ["--cpu-prof", "--cpu-prof-dir", profiles, "--cpu-prof-interval", `${sampleUs}`];
  const server = await startBenchServer({
    name: "Snowlane",
    isOurs: true,
    command: (port, own) => {
      const [node = "", ...args] = serveCommand("src/cli/main.ts", port, own, []);
      return [node, ...profiler, ...args];
    },
  });
  const { fromUs, untilUs, cpuUs, kernelUs } = await runAndStop(server, load, folder);
  const shares = sharesOf(readProfile(profiles), fromUs, untilUs);
  const us = new Map(Array.from(shares, ([part, share]) => [part, share * cpuUs]));
  // A profile sees the kernel's time where it was called from, which is the code in C++.
  us.set(parts.native, (us.get(parts.native) ?? 0) - kernelUs);
  return us.set(parts.kernel, kernelUs).set("all", cpuUs);
}

/** Runs a load, and stops the server, which then writes its profile. */
async function runAndStop(
  server: BenchServer,
  load: Load,
  folder: string,
): Promise<LoadResult & { readonly fromUs: number; readonly untilUs: number }> {
  try {
    await runH2load(server, { ...load, calls: warmUpCalls }, folder);
    const fromUs = monotonicUs();
    const result = await runH2load(server, load, folder);
    return { ...result, fromUs, untilUs: monotonicUs() };
  } finally {
    await server.stop();
  }
}

/** Parts of a call of NextId, by files. */
export const profileBenchmark: Benchmark = {
  name: "profile",
  title: "Where the time of a call goes",
  about: [
    "NextId by gRPC under h2load, in µs of processor a call, by the files in which V8's profiler finds the server's",
    `thread (a sample each ${sampleUs / 1_000} ms) and by the kernel's count of its own time. The server runs from its sources. The profiler`,
    "itself costs some percent, so compare the parts.",
  ].join("\n"),
  packages: [],
  run: async (log) => {
    const folder = mkdtempSync(join(tmpdir(), "snowlane-bench-profile-"));
    try {
      const found: ReadonlyMap<string, number>[] = [];
      for (const load of loads) {
        log(`${load.connections} connections`);
        found.push(await measure(load, folder));
      }
      const names = [...partsByFile.map(([name]) => name), ...Object.values(parts), "all"];
      const rows = names.map((name) => [name].concat(found.map((us) => formatFigure(us.get(name) ?? 0))));
      const columns = ["part", ...loads.map(({ connections, streams }) => `${connections} × ${streams}`)];
      return [{ title: "NextId, by connections × calls at once", columns, rows }];
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
