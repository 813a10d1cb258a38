import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { World } from "./mutant.ts";

/** Which seeds to run, and how. */
export interface SeedRun {
  readonly first: number;
  readonly count: number;
  /** Name of a mutant; absent = the protocol as it is. */
  readonly mutant?: string;
  /** Absent = of the simulation. */
  readonly world?: World | undefined;
  /** Ends with the first seed that breaks a promise. */
  readonly stopsAtFirst?: boolean;
  /** Processes at once. */
  readonly processes: number;
  readonly onProgress?: (done: number) => void;
}

/** A seed that broke a promise. */
export interface BrokenSeed {
  readonly seed: number;
  readonly traceHash: string;
  readonly violations: readonly { readonly promise: string; readonly detail: string }[];
}

/** The outcome of a run of seeds. */
export interface SeedReport {
  readonly seeds: number;
  readonly issued: number;
  readonly broken: readonly BrokenSeed[];
  /** How often each fault met a holder in each state: `kind/state`. */
  readonly met: ReadonlyMap<string, number>;
  /** The trace hashes of all seeds in one, whatever their order. */
  readonly digest: number;
}

interface WorkerLine {
  readonly seeds: number;
  readonly issued: number;
  readonly digest: number;
  readonly broken: readonly BrokenSeed[];
  readonly met: readonly (readonly [string, number])[];
}

/** Runs seeds in processes of their own, each with every n-th seed. */
export async function runSeeds(run: SeedRun): Promise<SeedReport> {
  const met = new Map<string, number>();
  const broken: BrokenSeed[] = [];
  let seeds = 0;
  let issued = 0;
  let digest = 0;
  const lanes = Array.from({ length: run.processes }, (_, lane) =>
    runLane(run, lane, (line) => {
      seeds += line.seeds;
      issued += line.issued;
      digest ^= line.digest;
      broken.push(...line.broken);
      for (const [key, count] of line.met) met.set(key, (met.get(key) ?? 0) + count);
      run.onProgress?.(seeds);
    }),
  );
  await Promise.all(lanes);
  broken.sort((one, other) => one.seed - other.seed);
  return { seeds, issued, broken, met, digest };
}

async function runLane(run: SeedRun, lane: number, onLine: (line: WorkerLine) => void): Promise<void> {
  const script = fileURLToPath(new URL("seed-lane.ts", import.meta.url));
  const options = { ...run, lane, onProgress: undefined };
  const child = spawn(process.execPath, [script, JSON.stringify(options)], { stdio: ["ignore", "pipe", "pipe"] });
  let complaint = "";
  child.stderr.on("data", (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  const ended = new Promise<number | null>((resolve) => {
    child.once("close", resolve);
  });
  for await (const line of createInterface({ input: child.stdout })) onLine(JSON.parse(line) as WorkerLine);
  const code = await ended;
  if (code !== 0) throw new Error(`A lane of the simulation ended with ${code}: ${complaint.slice(0, 2_000)}`);
}
