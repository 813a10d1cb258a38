import { relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import type { Reporter, SerializedError, TestModule } from "vitest/node";

/** How one test ended. */
export interface TestEnd {
  /** Titles from the outermost `describe` to the test's own. */
  readonly titles: readonly string[];
  readonly status: "passed" | "failed" | "skipped";
  /** Why it failed, whole; empty otherwise. */
  readonly message: string;
  readonly seconds: number;
}

/** How a file of tests ended. */
export interface FileEnd {
  readonly kind: "file-end";
  readonly file: string;
  readonly seconds: number;
  readonly tests: readonly TestEnd[];
  /** What went wrong outside of any test: the file did not load, or a hook of the whole file failed. */
  readonly errors: readonly string[];
}

/** What vitest says of a run while it goes on. */
export type VitestEvent =
  | { readonly kind: "file-start"; readonly file: string }
  | FileEnd
  /** All files have ended. `errors` happened outside of any file, such as an unhandled rejection. */
  | { readonly kind: "run-end"; readonly isPassed: boolean; readonly errors: readonly string[] };

/**
 * A reporter of vitest that sends each {@link VitestEvent} to the process that started vitest, as it happens: so what
 * has passed is known, too, where a run is ended.
 */
export default class EventReporter implements Reporter {
  readonly #ended = new Set<string>();

  onInit(): void {
    // Without the process that asked for it, this run would go on for nobody.
    process.once("disconnect", () => process.exit(1));
    process.channel?.unref();
  }

  onTestModuleStart(module: TestModule): void {
    send({ kind: "file-start", file: fileOf(module) });
  }

  onTestModuleEnd(module: TestModule): void {
    if (this.#ended.has(module.id)) return;
    this.#ended.add(module.id);
    send(fileEnd(module));
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[], reason: string): void {
    for (const module of modules) this.onTestModuleEnd(module);
    send({ kind: "run-end", isPassed: reason === "passed", errors: errors.map(messageOf) });
  }
}

function send(event: VitestEvent): void {
  process.send?.(event);
}

function fileOf({ moduleId }: TestModule): string {
  return relative(process.cwd(), moduleId);
}

function fileEnd(module: TestModule): FileEnd {
  const { duration, collectDuration } = module.diagnostic();
  const tests = [...module.children.allTests()].map((test): TestEnd => {
    const titles: string[] = [test.name];
    for (let { parent } = test; parent.type === "suite"; { parent } = parent) titles.unshift(parent.name);
    const { state, errors = [] } = test.result();
    return {
      titles,
      // One that is still pending when its file has ended never ran.
      status: state === "pending" ? "skipped" : state,
      message: errors.map(messageOf).join("\n"),
      seconds: (test.diagnostic()?.duration ?? 0) / 1_000,
    };
  });
  const errors = [module, ...module.children.allSuites()].flatMap((suite) => suite.errors().map(messageOf));
  const isBroken =
    module.state() === "failed" && errors.length === 0 && !tests.some((test) => test.status === "failed");
  return {
    kind: "file-end",
    file: fileOf(module),
    seconds: (duration + collectDuration) / 1_000,
    tests,
    errors: isBroken ? ["vitest counts the file as failed and gives no reason"] : errors,
  };
}

/** The message, what differs, the lines of the stack that are of this project, and the cause. */
function messageOf(error: SerializedError): string {
  const stack = (error.stack ?? "")
    .split("\n")
    .filter((line) => /^\s+at /.test(line) && !line.includes("node_modules"));
  const diff = typeof error["diff"] === "string" ? [error["diff"]] : [];
  const cause = error.cause === undefined ? [] : [`Caused by: ${messageOf(error.cause)}`];
  const head = [error.name, error.message].filter((text) => text !== undefined && text !== "").join(": ");
  return stripVTControlCharacters([head, ...diff, ...stack, ...cause].join("\n"));
}
