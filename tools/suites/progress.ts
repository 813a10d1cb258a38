import type { FileEnd, VitestEvent } from "./vitest-events.ts";

const barWidth = 24;

/** Where progress is shown: a terminal, or a file of lines. */
export interface ProgressOutput {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

interface SuiteProgress {
  readonly startedMs: number;
  readonly files: number;
  filesEnded: number;
  passed: number;
  failed: number;
}

/**
 * Shows how suites run: in a terminal one line a suite, with a bar; elsewhere a line when a suite begins, one
 * a minute while it runs, and one when it has ended. Each failure is named as soon as it is known.
 */
export class Progress {
  readonly #output: ProgressOutput;
  readonly #nowMs: () => number;
  readonly #suites = new Map<string, SuiteProgress>();
  #linesDrawn = 0;

  constructor(output: ProgressOutput, nowMs: () => number) {
    this.#output = output;
    this.#nowMs = nowMs;
  }

  begin(suite: string, files: number): void {
    this.#suites.set(suite, { startedMs: this.#nowMs(), files, filesEnded: 0, passed: 0, failed: 0 });
    if (this.#output.isTTY === true) this.draw();
    else this.#say(`${suite}: begins, ${files} files`);
  }

  take(suite: string, event: VitestEvent): void {
    const progress = this.#suites.get(suite);
    if (progress === undefined || event.kind !== "file-end") return;
    progress.filesEnded += 1;
    for (const { status } of event.tests) progress[status === "passed" ? "passed" : "failed"] += 1;
    for (const name of failedNames(event)) this.#say(`${suite}: failed: ${name}`);
    this.draw();
  }

  end(suite: string): void {
    const progress = this.#suites.get(suite);
    if (progress === undefined) return;
    const line = this.#line(suite, progress);
    this.#suites.delete(suite);
    this.#say(line);
  }

  /** Shows how far the suites are; to be called now and then. */
  tick(): void {
    if (this.#output.isTTY === true) this.draw();
    else for (const [suite, progress] of this.#suites) this.#say(this.#line(suite, progress));
  }

  /** Draws the lines of a terminal again. */
  draw(): void {
    if (this.#output.isTTY !== true) return;
    const lines = [...this.#suites].map(([suite, progress]) => this.#line(suite, progress));
    const columns = this.#output.columns ?? 80;
    this.#output.write(this.#erased() + lines.map((line) => `${line.slice(0, columns - 1)}\n`).join(""));
    this.#linesDrawn = lines.length;
  }

  /** Prints a line that stays, above those that are drawn again. */
  #say(line: string): void {
    this.#output.write(`${this.#erased()}${line}\n`);
    this.#linesDrawn = 0;
    this.draw();
  }

  #erased(): string {
    return this.#linesDrawn === 0 ? "" : `\u001B[${this.#linesDrawn}A\u001B[J`;
  }

  #line(suite: string, { startedMs, files, filesEnded, passed, failed }: SuiteProgress): string {
    const done = Math.min(barWidth, Math.round((barWidth * filesEnded) / Math.max(1, files)));
    const bar = this.#output.isTTY === true ? `${"█".repeat(done)}${"░".repeat(barWidth - done)} ` : "";
    const minutes = ((this.#nowMs() - startedMs) / 60_000).toFixed(1);
    const wrong = failed === 0 ? "" : `, ${failed} failed`;
    return `${suite.padEnd(8)} ${bar}${filesEnded} of ${files} files, ${passed} passed${wrong}, ${minutes} min`;
  }
}

function failedNames({ file, tests, errors }: FileEnd): readonly string[] {
  const failed = tests.filter(({ status }) => status !== "passed").map(({ titles }) => [file, ...titles].join(" > "));
  return errors.length > 0 ? [file, ...failed] : failed;
}
