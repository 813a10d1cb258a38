import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../src/clock/clock.ts";
import { onOff } from "../src/config/setting-kinds.ts";
import { writeMarkedSection } from "../test/bench/marked-section.ts";
import { machine } from "../test/bench/report.ts";
import { runProgram } from "../test/support/processes/run-program.ts";
import { runVitest, tell, testLines } from "./run-vitest.ts";

/** How the tests of a project ended. */
interface Ended {
  readonly exitCode: number;
  /** Every test, and what they came to. */
  readonly lines: readonly string[];
}

/** Runs the tests of a vitest project that `npm test` leaves out, by a command of its own: `npm run test:PROJECT`. */
export async function runProject(project: string, summary: string): Promise<void> {
  const call = `npm run test:${project}`;
  await runProgram({
    call: `${call} --`,
    summary,
    options: {},
    examples: [call],
    run: async () => runTests(project).exitCode,
  });
}

/**
 * The same for a project whose last run is kept in docs/release.md.
 *
 * @param programs - Programs of this machine that the tests use, each as a call that prints its version.
 */
export async function runKeptProject(project: string, summary: string, programs: readonly string[]): Promise<void> {
  const call = `npm run test:${project}`;
  const page = "docs/release.md";
  await runProgram({
    call: `${call} --`,
    summary,
    options: { write: onOff({ name: "write", doc: `Puts every test with its outcome into ${page}.` }) },
    examples: [call, `${call} -- --write`],
    run: async ({ write }) => {
      const { exitCode, lines } = runTests(project);
      if (write) {
        const day = new Date(systemClock.nowMs()).toISOString().slice(0, 10);
        const versions = [`Node ${process.versions.node}`, ...programs.map(versionOf)].join(", ");
        const about = `${day}, on ${machine()}; ${versions}.`;
        writeMarkedSection(page, project, [about, "", "```text", ...lines, "```"].join("\n"));
      }
      return exitCode;
    },
  });
}

function runTests(project: string): Ended {
  const folder = mkdtempSync(join(tmpdir(), `snowlane-${project}-`));
  const startedMs = systemClock.monotonicMs();
  try {
    const report = join(folder, "report.json");
    const { passed, failures } = runVitest(project, ["run", "--reporter=verbose"], report);
    failures.forEach(tell);
    const seconds = Math.round((systemClock.monotonicMs() - startedMs) / 1_000);
    const outcome = `${passed} passed, ${failures.length} failed, in ${seconds} s`;
    process.stdout.write(`\n${outcome}\n`);
    return { exitCode: failures.length === 0 ? 0 : 1, lines: [...testLines(report), outcome] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @throws Error where the program is not there. */
function versionOf(call: string): string {
  const [program = "", ...args] = call.split(" ");
  const { stdout, error } = spawnSync(program, args, { encoding: "utf8" });
  if (error !== undefined) throw error;
  return stdout.split("\n")[0]!.replace(/ \(.*\)$/, "");
}
