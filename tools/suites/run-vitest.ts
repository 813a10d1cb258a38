import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { killTree } from "../../test/support/processes/process-tree.ts";
import type { FileEnd, TestEnd, VitestEvent } from "./vitest-events.ts";

/** A test that did not pass. */
export interface Failure {
  /** The suite itself where it is of no file. */
  readonly file: string;
  /** Its titles; undefined where the file itself did not load, or the run ended with an error outside of any test. */
  readonly titles: readonly string[] | undefined;
  readonly message: string;
}

/** What a run of tests came to. */
export interface Run {
  readonly passed: number;
  readonly failures: readonly Failure[];
  /** In the order in which they ended. */
  readonly files: readonly FileEnd[];
}

/** How tests are run. */
export interface VitestRun {
  readonly suite: string;
  /** Of vitest: `run`, with files if it is for some of them, and a reporter in place of the default. */
  readonly command: readonly string[];
  /** Files that must have run when it ends; by default none in particular. */
  readonly files?: readonly string[];
  /** Where the output goes: this terminal where it is left out. */
  readonly outputPath?: string;
  /** Laid over `process.env`. */
  readonly env?: Readonly<Record<string, string>>;
  /** After these the run is killed, and counts as failed; by default never. */
  readonly minutesMax?: number;
  readonly onEvent?: (event: VitestEvent) => void;
}

/** Vitest ends its workers when all tests have ended; one that does not end by then is killed. */
const exitMsMax = 60_000;
const endingSignals = ["SIGINT", "SIGTERM"] as const;

/** Runs tests of a suite. */
export async function runVitest(options: VitestRun): Promise<Run> {
  const { suite, command, files = [], outputPath, env = {}, minutesMax, onEvent } = options;
  const reporters = command.some((word) => word.startsWith("--reporter=")) ? [] : ["--reporter=default"];
  const args = [...command, "--project", suite, ...reporters, "--reporter=./tools/suites/vitest-events.ts"];
  const output = outputPath === undefined ? "inherit" : openSync(outputPath, "w");
  const child = spawn(process.execPath, ["node_modules/vitest/vitest.mjs", ...args], {
    stdio: ["ignore", output, output, "ipc"],
    env: { ...process.env, ...env },
  });
  const ended: FileEnd[] = [];
  const underWay = new Set<string>();
  let over: Extract<VitestEvent, { kind: "run-end" }> | undefined;
  let isLate = false;
  const kill = async (): Promise<void> => void (child.pid !== undefined && (await killTree(child.pid)));
  // Ctrl-C in a terminal reaches every process; a signal to this one alone would leave vitest and its servers running.
  const endBySignal = (): void => {
    // Otherwise the next suite would begin.
    child.removeAllListeners("close");
    void kill().finally(() => process.exit(130));
  };
  for (const signal of endingSignals) process.on(signal, endBySignal);
  const timers: NodeJS.Timeout[] = [];
  if (minutesMax !== undefined) {
    const end = (): void => {
      isLate = over === undefined;
      void kill();
    };
    timers.push(setTimeout(end, minutesMax * 60_000));
  }
  child.on("message", (event: VitestEvent) => {
    if (event.kind === "file-start") underWay.add(event.file);
    if (event.kind === "file-end") {
      underWay.delete(event.file);
      ended.push(event);
    }
    if (event.kind === "run-end") {
      over = event;
      timers.push(setTimeout(() => void kill(), exitMsMax));
    }
    onEvent?.(event);
  });
  const exit = await new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, signal) => resolve(String(code ?? signal)));
  });
  timers.forEach(clearTimeout);
  for (const signal of endingSignals) process.off(signal, endBySignal);
  if (typeof output === "number") closeSync(output);
  const failures = ended.flatMap(failuresOf);
  const passed = ended.flatMap(({ tests }) => tests).filter(({ status }) => status === "passed").length;
  const whole = (message: string): void => void failures.push({ file: suite, titles: undefined, message });
  if (isLate) whole(`ran for ${minutesMax} minutes and was ended; under way: ${[...underWay].join(" ") || "no file"}`);
  else if (over === undefined) whole(`vitest ended with ${exit}. ${lastWords(outputPath)}`);
  over?.errors.forEach(whole);
  const missing = files.filter((file) => !ended.some((end) => end.file === file));
  if (missing.length > 0 && failures.length === 0) whole(`did not run: ${missing.join(" ")}`);
  // A run can fail without a failed test, and without a test at all.
  const isSound = passed > 0 && over?.isPassed === true && exit === "0";
  if (failures.length === 0 && !isSound) whole(`vitest ended with ${exit}. ${lastWords(outputPath)}`);
  return { passed, failures, files: ended };
}

/** The name of a failed test as people read it. */
export function nameOf({ file, titles }: Failure): string {
  return [file, ...(titles ?? [])].join(" > ");
}

/** Prints where a test failed, and why. */
export function tell(failure: Failure): void {
  process.stdout.write(`  ${nameOf(failure)}\n`);
  for (const line of failure.message.split("\n")) process.stdout.write(`      ${line}\n`);
}

/** Every test with its seconds, below the name of its file. */
export function testLines(files: readonly FileEnd[]): readonly string[] {
  return files
    .toSorted((a, b) => (a.file < b.file ? -1 : 1))
    .flatMap(({ file, tests }) => [basename(file)].concat(tests.map(testLine)));
}

function testLine({ titles, status, seconds }: TestEnd): string {
  return `${status === "passed" ? "✓" : "✗"} ${titles.join(" > ")} (${seconds.toFixed(1)} s)`;
}

function failuresOf({ file, tests, errors }: FileEnd): readonly Failure[] {
  const failed = tests.filter(({ status }) => status !== "passed");
  return [
    ...errors.map((message) => ({ file, titles: undefined, message })),
    ...failed.map(({ titles, status, message }) => ({ file, titles, message: message || `it was ${status}` })),
  ];
}

function lastWords(outputPath: string | undefined): string {
  if (outputPath === undefined) return "Its own output above says why.";
  return `The end of ${outputPath}:\n${readFileSync(outputPath, "utf8").trimEnd().split("\n").slice(-40).join("\n")}`;
}
