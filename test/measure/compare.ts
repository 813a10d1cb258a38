/**
 * Compares this build with that of another checkout, in turn: `npm run compare -- --with ../before`. For a change that
 * must not cost anything.
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "../../src/config/setting-kinds.ts";
import { makeCertificates } from "../support/processes/certificates.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { runProgram } from "../support/processes/run-program.ts";
import { type BenchServer, snowlane } from "../bench/bench-server.ts";
import { interleave, median } from "../bench/interleave.ts";
import { type H2load, runH2load } from "../bench/load.ts";
import { machine, markdownTable } from "../bench/report.ts";
import { measureStart } from "../bench/start.ts";

const rounds = 5;
const columns = ["figure", "before", "now", "now / before"];

const loads: readonly (H2load & { readonly title: string; readonly http2: "engine" | "node" })[] = [
  { title: "NextId, 4 connections of 32", http2: "engine", connections: 4, streams: 32, calls: 2_000_000 },
  { title: "NextId, 100 connections of 1", http2: "engine", connections: 100, streams: 1, calls: 150_000 },
  {
    title: "ReserveIds of 8",
    http2: "engine",
    connections: 4,
    streams: 32,
    calls: 300_000,
    method: "ReserveIds",
    message: [0x08, 0x08],
  },
  // 200,000 because of V8, too: with 30,000 the same two builds were 1.03 to 1.16 apart.
  {
    title: "Parse",
    http2: "engine",
    connections: 4,
    streams: 32,
    calls: 200_000,
    method: "Parse",
    message: [0x09, 0, 0, 0, 0, 0, 0, 0x40, 0x1a],
  },
  {
    title: "BatchNextIds of 10,000",
    http2: "engine",
    connections: 4,
    streams: 8,
    calls: 2_000,
    method: "BatchNextIds",
    // Field 1, count 10,000.
    message: [0x08, 0x90, 0x4e],
  },
  // Enough that V8 has compiled both builds in the warm-up: with 300,000 the second round still took 1.6 x the third.
  { title: "NextId over TLS", http2: "engine", connections: 4, streams: 32, calls: 1_000_000, tls: true },
  { title: "NextId, node:http2", http2: "node", connections: 4, streams: 32, calls: 12_000 },
];

const log = (line: string): void => console.log(`  ${line}`);

/** A row: medians of both builds, and their ratio. */
function rowOf(figure: string, before: readonly number[], now: readonly number[]): readonly string[] {
  const [old, fresh] = [median(before), median(now)];
  return [figure, old.toFixed(2), fresh.toFixed(2), (fresh / old).toFixed(3)];
}

async function compareLoads(programs: readonly [string, string]): Promise<string[][]> {
  const { server: tls, remove } = await makeCertificates();
  const folder = mkdtempSync(join(tmpdir(), "snowlane-compare-"));
  const servers: BenchServer[] = [];
  try {
    const rows: string[][] = [];
    for (const { title, http2, ...load } of loads) {
      log(title);
      const args = [
        "--http2",
        http2,
        ...(load.tls === true ? ["--tls-cert", tls.certFile, "--tls-key", tls.keyFile] : []),
      ];
      const pair = await Promise.all(programs.map((program) => snowlane(program, args, program)));
      servers.push(...pair);
      const contestants = pair.map((server) => ({ name: server.name, run: () => runH2load(server, load, folder) }));
      const results = await interleave(contestants, rounds, log);
      const [before = [], now = []] = programs.map((name) => (results.get(name) ?? []).map(({ cpuUs }) => cpuUs));
      rows.push([...rowOf(`${title}: µs of processor a call`, before, now)]);
      await Promise.all(servers.splice(0).map((server) => server.stop()));
    }
    return rows;
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function compareStarts(programs: readonly [string, string]): Promise<string[][]> {
  log("start");
  const contestants = programs.map((program) => ({ name: program, run: () => measureStart(program) }));
  const results = await interleave(contestants, 2 * rounds, log);
  const [before = [], now = []] = programs.map((name) => results.get(name) ?? []);
  const pick = (key: "firstIdMs" | "idleMb"): string[] => [
    ...rowOf(
      key === "firstIdMs" ? "start to the first ID, ms" : "idle memory, MB",
      before.map((one) => one[key]),
      now.map((one) => one[key]),
    ),
  ];
  return [pick("firstIdMs"), pick("idleMb")];
}

await runProgram({
  call: "npm run compare --",
  summary: "Compares this build with that of another checkout, in turn, in processor time, start and memory",
  options: {
    with: text({ name: "with", doc: "Folder of the other checkout; it must have been built (npm run build)." }),
  },
  examples: ["npm run compare -- --with ../before"],
  run: async ({ with: folder }) => {
    if (folder === undefined) {
      console.error("Name the checkout to compare with: --with FOLDER.");
      return 2;
    }
    const other = join(folder, "dist/main.js");
    if (!existsSync(other)) {
      console.error(`There is no ${other}: build that checkout first (npm run build).`);
      return 2;
    }
    await runCommand(process.execPath, ["tools/bundle.mjs"]);
    console.log(`${machine()}; Node ${process.versions.node}; medians of ${rounds} rounds in turn`);
    const programs = [other, "dist/main.js"] as const;
    const rows = [...(await compareStarts(programs)), ...(await compareLoads(programs))];
    console.log(`\n${markdownTable({ title: "Before and now", columns, rows })}`);
    return 0;
  },
});
