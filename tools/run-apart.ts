import { spawnSync } from "node:child_process";
import { systemClock } from "../src/clock/clock.ts";
import { writeMarkedSection } from "../test/bench/marked-section.ts";
import { machine } from "../test/bench/report.ts";
import { runVitest, tell, testLines } from "./suites/run-vitest.ts";
import { wholeParts, wholeSize } from "./whole-parts.ts";

const page = "docs/release.md";

/** The suites whose last run is kept in docs/release.md, with the programs of this machine that they use. */
const keptSuites: Readonly<Record<string, readonly string[]>> = {
  kube: ["go version"],
  release: ["buildah --version", "go version", "java --version", "python3 --version"],
};

/**
 * Runs a suite that `npm test` leaves out, or the whole of tests of which it runs a part, and prints every test.
 *
 * @param isWritten - Whether a run that docs/release.md keeps is written there.
 * @returns Whether all tests passed.
 */
export async function runApart(name: string, isWritten: boolean): Promise<boolean> {
  const startedMs = systemClock.monotonicMs();
  const whole = wholeParts.find((part) => part.name === name);
  const { passed, failures, files } = await runVitest({
    suite: whole?.suite ?? name,
    command: ["run", "--reporter=verbose", ...(whole?.files ?? [])],
    env: whole === undefined ? {} : wholeSize,
  });
  failures.forEach(tell);
  const seconds = Math.round((systemClock.monotonicMs() - startedMs) / 1_000);
  const outcome = `${passed} passed, ${failures.length} failed, in ${seconds} s`;
  process.stdout.write(`\n${outcome}\n`);
  const programs = keptSuites[name];
  if (isWritten && programs !== undefined) writeRun(name, programs, [...testLines(files), outcome]);
  return failures.length === 0;
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
