import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFile, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { fetchOnce } from "../test/support/fetch/user-cache.ts";
import type { Check } from "./checks.ts";

const execute = promisify(execFile);

/** What a run of the model checker found. */
export interface Finding {
  /**
   * `exhausted`: all states within the bounds were visited, none was wrong. `caught`: an assertion failed. `cut`: a
   * limit was met first.
   */
  readonly outcome: "exhausted" | "caught" | "cut";
  /** Distinct states that were stored. */
  readonly states: number;
  /** Steps of the longest path. */
  readonly depth: number;
  readonly seconds: number;
  /** The checker's own words, for a finding that was not expected. */
  readonly output: string;
}

/** What each run may use. A run that meets a limit is `cut`, never taken for a proof. */
export interface RunLimits {
  readonly timeoutMs: number;
  readonly memoryMib: number;
}

/**
 * Runs one check: spin makes a C program of the model, gcc compiles it, and the program visits every state. A program
 * is compiled once for each text of its model, and kept in the cache of the user.
 *
 * @param spin - The program `spin`, by path or by name.
 * @throws Error if the model does not compile.
 */
export async function runCheck(check: Check, spin: string, limits: RunLimits): Promise<Finding> {
  const folder = await mkdtemp(join(tmpdir(), "snowlane-model-"));
  const startedMs = performance.now();
  try {
    const program = await compile(check, spin, limits.memoryMib);
    const output = await visitStates(program, folder, limits.timeoutMs);
    return { ...readFinding(output), seconds: (performance.now() - startedMs) / 1_000, output };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns the path of the program that visits the states of a check. */
async function compile(check: Check, spin: string, memoryMib: number): Promise<string> {
  const path = new URL(`${check.model}.pml`, import.meta.url);
  const defines = Object.entries(check.defines).map(([name, value]) => `-D${name}=${value}`);
  // A slip is found early, so a better program would take longer to compile than it saves. From the last transition of
  // each state on it is found earlier still: the mutants of the tests take 21 s in place of 60. States are packed only
  // where there are too many of them.
  const isLarge = check.size === "full";
  const optimization = check.expected === "caught" ? ["-O0", "-DT_REVERSE"] : ["-O2"];
  const packing = isLarge ? ["-DCOLLAPSE"] : [];
  const flags = [...optimization, "-w", "-DSAFETY", ...packing, `-DMEMLIM=${memoryMib}`];
  const { stdout: compiler } = await execute("gcc", ["--version"]);
  const text = await readFile(path, "utf8");
  const hash = createHash("sha256").update(JSON.stringify([text, defines, flags, spin, compiler]));
  const kept = await fetchOnce(`model-${hash.digest("hex").slice(0, 16)}`, async (folder) => {
    await copyFile(path, join(folder, "model.pml"));
    await execute(spin, ["-a", ...defines, "model.pml"], { cwd: folder });
    await execute("gcc", [...flags, "-o", "pan", "pan.c"], { cwd: folder });
    for (const name of await readdir(folder)) if (name !== "pan") await rm(join(folder, name));
  });
  return join(kept, "pan");
}

async function visitStates(program: string, folder: string, timeoutMs: number): Promise<string> {
  try {
    const { stdout } = await execute(program, ["-m1000000", "-w24"], { cwd: folder, timeout: timeoutMs });
    return stdout;
  } catch (error) {
    const stdout = error instanceof Error && "stdout" in error ? String(error.stdout) : "";
    return `${stdout}\n${String(error)}`;
  }
}

function readFinding(output: string): Omit<Finding, "seconds" | "output"> {
  const number = (pattern: RegExp): number => Number(pattern.exec(output)?.[1] ?? Number.NaN);
  const states = number(/(\d+) states, stored/);
  const depth = number(/depth reached (\d+)/);
  if (/assertion violated/.test(output)) return { outcome: "caught", states, depth };
  const isWhole =
    /errors: 0/.test(output) && !/max search depth too small|out of memory|Search not completed/.test(output);
  return { outcome: isWhole ? "exhausted" : "cut", states, depth };
}
