/**
 * Measures the cost of an ID for a program that uses a client: each language by its own tool, beside its usual local
 * generators.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fetchPythonVenv } from "../support/fetch/python-venv.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { snowlane } from "./bench-server.ts";
import type { Benchmark, Finding } from "./benchmark.ts";
import { formatFigure, machine } from "./report.ts";

/** One figure of one language's program. */
interface Figure {
  readonly source: string;
  /** How many threads, goroutines or tasks take IDs at once; empty where one takes many at a time. */
  readonly mode: string;
  /** Elapsed nanoseconds an ID, of all of them together. */
  readonly ns: number;
}

/** The facts about a source, by its name in the programs. */
interface Source {
  readonly label: string;
  /**
   * `local`: a generator with its ceiling lifted that never repeats an ID; ours is compared with those. `other`: as
   * shipped, or not unique, or one RPC for each ID.
   */
  readonly kind: "ours" | "local" | "other";
}

const sources: Readonly<Record<string, Source>> = {
  buffer: { label: "**Snowlane, buffer**", kind: "ours" },
  "buffer-awaited": { label: "Snowlane, buffer, each ID awaited", kind: "other" },
  "buffer-aio": { label: "Snowlane, asyncio buffer, each ID awaited, refilled by a server", kind: "other" },
  rpc: { label: "Snowlane, one RPC for each ID", kind: "other" },
  "rpc-aio": { label: "Snowlane, one RPC for each ID, asyncio", kind: "other" },
  "flake-idgen-lifted": { label: "flake-idgen, ceiling lifted", kind: "local" },
  "flake-idgen-shipped": { label: "flake-idgen, as shipped", kind: "other" },
  "nodejs-snowflake-shipped": { label: "nodejs-snowflake, as shipped", kind: "other" },
  sapphire: { label: "@sapphire/snowflake, which repeats IDs at this rate", kind: "other" },
  "bwmarrin-lifted": { label: "bwmarrin/snowflake, ceiling lifted", kind: "local" },
  "bwmarrin-shipped": { label: "bwmarrin/snowflake, as shipped", kind: "other" },
  "sonyflake-lifted": { label: "sonyflake, ceiling lifted", kind: "local" },
  "sonyflake-shipped": { label: "sonyflake, as shipped", kind: "other" },
  tsidCreatorLifted: { label: "tsid-creator, which has no ceiling", kind: "local" },
  cosidLifted: { label: "CosId, ceiling lifted", kind: "local" },
  cosidShipped: { label: "CosId, as shipped", kind: "other" },
  hutoolShipped: { label: "Hutool, as shipped", kind: "other" },
  "locked-clock": { label: "a lock and a clock, by hand", kind: "local" },
  "snowflake-id": { label: "snowflake-id, for one thread, below its ceiling", kind: "local" },
  simpleflake: { label: "simpleflake, random, so not unique for certain", kind: "other" },
};

const manyLabels: Readonly<Record<string, string>> = {
  "stock-array": "arrays from the buffer",
  "stock-list": "lists from the buffer",
  "server-array": "arrays, each by RPC",
  "server-list": "lists, each by RPC",
  "server-stream": "a stream",
};

/** One language: how to measure it, and what with. */
interface Language {
  readonly name: string;
  readonly tool: () => Promise<string>;
  readonly measure: (folder: string, environment: Readonly<Record<string, string>>) => Promise<readonly Figure[]>;
}

const languages: readonly Language[] = [
  {
    name: "Go",
    tool: async () => `${(await runCommand("go", ["env", "GOVERSION"])).trim()}, go test -bench`,
    measure: measureGo,
  },
  {
    name: "Java",
    tool: async () => `OpenJDK ${/version "([^"]+)"/.exec(await javaVersion())?.[1] ?? ""}, JMH`,
    measure: measureJava,
  },
  {
    name: "TypeScript",
    tool: async () => `Node ${process.versions.node}, mitata`,
    measure: async (_folder, environment) => {
      const program = ["--expose-gc", "test/bench/peers/clients-typescript.ts"];
      return readFigures(await runCommand(process.execPath, program, { env: environment }));
    },
  },
  {
    name: "Python",
    tool: async () => `C${(await runCommand("python3", ["--version"])).trim()}, pyperf`,
    measure: measurePython,
  },
];

function readFigures(output: string): readonly Figure[] {
  const lines = output.split("\n").filter((line) => line.startsWith("{"));
  return lines.map((line) => JSON.parse(line) as Figure);
}

const goFolder = "test/bench/peers/clients-go";

async function measureGo(folder: string, environment: Readonly<Record<string, string>>): Promise<readonly Figure[]> {
  const program = join(folder, "bench-go");
  await runCommand("go", ["test", "-c", "-o", program, "."], { cwd: goFolder });
  const flags = ["-test.run=^$", "-test.bench=.", "-test.benchtime=300ms", "-test.count=3"];
  const output = await runCommand(program, flags, { env: environment });
  // For example: BenchmarkNextID/buffer/threads=1-2   1994718   5.58 ns/op
  const pattern =
    /^Benchmark\w+\/([\w-]+?)(?:\/threads=(\w+))?(?:-\d+)?\s+\d+\s+([\d.]+) ns\/op(?:\s+([\d.]+) ns\/id)?/gm;
  const best = new Map<string, Figure>();
  for (const [, source = "", threads, perCall = "", perId] of output.matchAll(pattern)) {
    const mode = threads === undefined ? "" : goMode(threads);
    const ns = Number(perId ?? perCall);
    const key = `${source} ${mode}`;
    if (ns < (best.get(key)?.ns ?? Infinity)) best.set(key, { source, mode, ns });
  }
  return [...best.values()];
}

function goMode(threads: string): string {
  if (threads === "1") return "1 goroutine";
  return threads === "cores" ? "one a core" : `${threads} goroutines`;
}

const javaFolder = resolve("test/bench/peers/clients-java");

/** Methods that take many IDs a call: what they are called here, and how many. */
const javaMany: Readonly<Record<string, readonly [source: string, count: number]>> = {
  stockArray: ["stock-array", 10_000],
  serverArray: ["server-array", 100_000],
  serverStream: ["server-stream", 1_000_000],
};

/** `java -version` writes to standard error. */
function javaVersion(): Promise<string> {
  return runCommand("sh", ["-c", "java -version 2>&1"]);
}

async function measureJava(folder: string, environment: Readonly<Record<string, string>>): Promise<readonly Figure[]> {
  const pathFile = join(folder, "class-path");
  const goals = [
    "compile",
    "dependency:build-classpath",
    `-Dmdep.outputFile=${pathFile}`,
    `-Dbench.target=${folder}/java`,
  ];
  await runCommand("mvn", ["--batch-mode", "--quiet", ...goals], { cwd: javaFolder });
  const classPath = `${folder}/java/classes:${readFileSync(pathFile, "utf8")}`;
  const figures: Figure[] = [];
  const jmh = async (benchmarks: string, threads: number): Promise<void> => {
    const report = join(folder, "jmh.json");
    const time = ["-f", "1", "-wi", "2", "-w", "1", "-i", "3", "-r", "1", "-bm", "thrpt", "-tu", "s"];
    const main = ["-cp", classPath, "org.openjdk.jmh.Main", benchmarks, "-t", `${threads}`];
    await runCommand("java", [...main, ...time, "-rf", "json", "-rff", report], { env: environment });
    const results = JSON.parse(readFileSync(report, "utf8")) as readonly JmhResult[];
    for (const { benchmark, primaryMetric } of results) {
      // JMH puts percentiles beside the mean: the best of its iterations is the highest of a throughput.
      const perSecond = primaryMetric.scorePercentiles["100.0"];
      const method = benchmark.split(".").at(-1) ?? "";
      const [source, count] = javaMany[method] ?? [method, 1];
      const mode = threads === 1 ? "1 thread" : `${threads} threads`;
      figures.push({ source, mode: count === 1 ? mode : "", ns: 1e9 / perSecond / count });
    }
  };
  await jmh(".*", 1);
  for (const threads of [2, 64]) await jmh("NextId.(buffer|.*Lifted)", threads);
  await jmh("Rpc.rpc", 64);
  return figures;
}

interface JmhResult {
  readonly benchmark: string;
  readonly primaryMetric: { readonly scorePercentiles: { readonly "100.0": number } };
}

const pythonFolder = "test/bench/peers/clients-python";

async function measurePython(
  folder: string,
  environment: Readonly<Record<string, string>>,
): Promise<readonly Figure[]> {
  const python = await fetchPythonVenv("bench", readFileSync(`${pythonFolder}/requirements.txt`, "utf8"));
  const env = { ...environment, PYTHONPATH: "clients/python/src", PYTHONDONTWRITEBYTECODE: "1" };
  const report = join(folder, "pyperf.json");
  await runCommand(python, [`${pythonFolder}/next_id.py`, "--copy-env", "--quiet", "-o", report], { env });
  const { benchmarks } = JSON.parse(readFileSync(report, "utf8")) as PyperfResults;
  return benchmarks.map(({ metadata, runs }) => {
    const [source = "", mode = ""] = metadata.name.split("/");
    // Calibrations have no values.
    return { source, mode, ns: Math.min(...runs.flatMap(({ values = [] }) => values)) * 1e9 };
  });
}

/** https://pyperf.readthedocs.io/en/latest/api.html: values are seconds an ID. */
interface PyperfResults {
  readonly benchmarks: readonly {
    readonly metadata: { readonly name: string };
    readonly runs: readonly { readonly values?: readonly number[] }[];
  }[];
}

interface Measured {
  readonly language: string;
  readonly tool: string;
  readonly figures: readonly Figure[];
}

const isSingle = ({ mode }: Figure): boolean => mode !== "";

function nextIdFinding({ language, tool, figures }: Measured): Finding {
  const single = figures.filter(isSingle);
  const modes = [...new Set(single.map(({ mode }) => mode))];
  const names = [...new Set(single.map(({ source }) => source))];
  const nsOf = (source: string, mode: string): number | undefined =>
    single.find((figure) => figure.source === source && figure.mode === mode)?.ns;
  const isCheap = (name: string): boolean => (nsOf(name, modes[0] ?? "") ?? Infinity) < 20_000;
  return {
    title: `${language}: nanoseconds an ID (${tool})`,
    columns: ["source", ...modes],
    rows: names.map((name) => [
      sources[name]?.label ?? name,
      ...modes.map((mode) => {
        const ns = nsOf(name, mode);
        return ns === undefined ? "–" : formatFigure(ns);
      }),
    ]),
    chart: {
      unit: "ns",
      bars: names.filter(isCheap).map((name) => ({
        label: (sources[name]?.label ?? name).replaceAll("*", ""),
        value: nsOf(name, modes[0] ?? "") ?? 0,
        isOurs: name.startsWith("buffer"),
      })),
    },
  };
}

/** The claim of the clients: the buffer costs at most a third of the fastest local generator that never repeats. */
function targetFinding(measured: readonly Measured[]): Finding {
  const rows = measured.flatMap(({ language, figures }) => {
    const modes = [...new Set(figures.filter(isSingle).map(({ mode }) => mode))];
    return modes.flatMap((mode) => {
      const ours = figures.find((figure) => figure.source === "buffer" && figure.mode === mode);
      const peers = figures.filter((figure) => figure.mode === mode && sources[figure.source]?.kind === "local");
      const fastest = peers.toSorted((a, b) => a.ns - b.ns)[0];
      if (ours === undefined || fastest === undefined) return [];
      const ratio = ours.ns / fastest.ns;
      const peer = `${sources[fastest.source]?.label ?? fastest.source}: ${formatFigure(fastest.ns)}`;
      return [
        [`${language}, ${mode}`, formatFigure(ours.ns), peer, ratio.toFixed(2), ratio <= 1 / 3 ? "yes" : "**no**"],
      ];
    });
  });
  const columns = ["", "buffer, ns", "fastest local one that never repeats, ns", "ratio", "at most a third"];
  return { title: "A buffered ID beside the fastest local generator, ceiling lifted", columns, rows };
}

function manyFinding(measured: readonly Measured[]): Finding {
  const kinds = Object.keys(manyLabels);
  const found = kinds.filter((kind) => measured.some(({ figures }) => figures.some(({ source }) => source === kind)));
  return {
    title: "Arrays and streams, million IDs a second",
    columns: ["", ...found.map((kind) => manyLabels[kind] ?? kind)],
    rows: measured.map(({ language, figures }) => [language, ...found.map((kind) => millionsPerSecond(figures, kind))]),
  };
}

function millionsPerSecond(figures: readonly Figure[], kind: string): string {
  const ns = figures.find(({ source }) => source === kind)?.ns;
  return ns === undefined ? "–" : formatFigure(1_000 / ns);
}

function writeFigures(measured: readonly Measured[]): void {
  const figures = { machine: machine(), measured };
  mkdirSync("docs/reports/benchmarks", { recursive: true });
  writeFileSync("docs/reports/benchmarks/clients.json", `${JSON.stringify(figures, undefined, 2)}\n`);
}

async function measureAll(log: (line: string) => void): Promise<readonly Finding[]> {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-bench-clients-"));
  const server = await snowlane("Snowlane");
  const measured: Measured[] = [];
  try {
    const environment = { SNOWLANE_URL: `http://127.0.0.1:${server.port}` };
    for (const { name, tool, measure } of languages) {
      const startedMs = performance.now();
      measured.push({ language: name, tool: await tool(), figures: await measure(folder, environment) });
      log(`${name} took ${((performance.now() - startedMs) / 1_000).toFixed(0)} s`);
    }
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  if (!process.argv.includes("--dry")) writeFigures(measured);
  return [targetFinding(measured), ...measured.map(nextIdFinding), manyFinding(measured)];
}

/** Names and versions, as the two groups of `pattern` find them. */
function pinnedIn(path: string, pattern: RegExp): readonly string[] {
  return [...readFileSync(path, "utf8").matchAll(pattern)].map(([, name, version]) => `${name} ${version}`);
}

/** The versions of peers that are not npm packages, from what pins them. */
function pinnedPeers(): string {
  return [
    ...pinnedIn(`${goFolder}/go.mod`, /^\tgithub\.com\/([\w./]+) (v[\d.]+)$/gm),
    ...pinnedIn(
      `${javaFolder}/pom.xml`,
      /<artifactId>(tsid-creator|cosid-core|hutool-core)<\/artifactId>\s*<version>([\d.]+)/g,
    ),
    ...pinnedIn(`${pythonFolder}/requirements.txt`, /^(simpleflake|snowflake-id)==([\d.]+)/gm),
  ].join(", ");
}

/** The clients of all languages. */
export const clientsBenchmark: Benchmark = {
  name: "clients",
  title: "The clients: what an ID costs a program",
  about: [
    "Each language is measured by its own tool, every ID is stored, and the best of several rounds counts, because",
    "other work on the machine can only add time. The buffer is refilled while it is measured, by a source in memory",
    "that answers after a millisecond. A server would limit it: its worker issues at most 4,096,000 IDs a second with",
    "the layout twitter. The figures of RPCs, streams, and arrays by RPC are those of a server on the same machine,",
    "with that ceiling.",
    "",
    "As shipped, a local generator of 12 bits of sequence and ticks of 1 ms waits 244 ns for each ID, however cheap",
    "its code is. With its ceiling lifted, only the code is measured; the buffer is compared with generators that",
    "never repeat an ID. The time of many threads is the elapsed time divided by the IDs of all threads.",
    "",
    `Peers: ${pinnedPeers()}.`,
  ].join("\n"),
  packages: ["mitata", "flake-idgen", "nodejs-snowflake", "@sapphire/snowflake"],
  run: measureAll,
};
