import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../src/clock/clock.ts";
import { writeMarkedSection } from "../test/bench/marked-section.ts";
import { machine } from "../test/bench/report.ts";
import { runVitest, tell, testLines } from "./run-vitest.ts";

const page = "docs/release.md";

/** The suites whose last run is kept in docs/release.md, with the programs of this machine that they use. */
const keptSuites: Readonly<Record<string, readonly string[]>> = {
  kube: ["go version"],
  release: ["buildah --version", "go version", "java --version", "python3 --version"],
};

/**
 * Runs a suite that `npm test` leaves out, and prints every test.
 *
 * @param isWritten - Whether a run that docs/release.md keeps is written there.
 * @returns Whether all tests passed.
 */
export function runApart(suite: string, isWritten: boolean): boolean {
  const folder = mkdtempSync(join(tmpdir(), `snowlane-${suite}-`));
  const startedMs = systemClock.monotonicMs();
  try {
    const report = join(folder, "report.json");
    const { passed, failures } = runVitest(suite, ["run", "--reporter=verbose"], report);
    failures.forEach(tell);
    const seconds = Math.round((systemClock.monotonicMs() - startedMs) / 1_000);
    const outcome = `${passed} passed, ${failures.length} failed, in ${seconds} s`;
    process.stdout.write(`\n${outcome}\n`);
    const programs = keptSuites[suite];
    if (isWritten && programs !== undefined) writeRun(suite, programs, [...testLines(report), outcome]);
    return failures.length === 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param programs - Each as a call that prints its version. */
function writeRun(suite: string, programs: readonly string[], lines: readonly string[]): void {
  const day = new Date(systemClock.nowMs()).toISOString().slice(0, 10);
  const versions = [`Node ${process.versions.node}`, ...programs.map(versionOf)].join(", ");
  const about = `${day}, on ${machine()}; ${versions}.`;
  writeMarkedSection(page, suite, [about, "", "```text", ...lines, "```"].join("\n"));
}

/** @throws Error where the program is not there. */
function versionOf(call: string): string {
  const [program = "", ...args] = call.split(" ");
  const { stdout, error } = spawnSync(program, args, { encoding: "utf8" });
  if (error !== undefined) throw error;
  return stdout.split("\n")[0]!.replace(/ \(.*\)$/, "");
}
