import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fetchPythonVenv } from "../support/fetch/python-venv.ts";
import { compileTests, prepareJavaBuilds } from "../support/processes/java-client.ts";
import { runCommand } from "../support/processes/run-command.ts";

/** The output of a client's interop program on `issue`. */
export interface IssueResult {
  readonly count: number;
  /** Calls that failed and were made again. */
  readonly failures: number;
  readonly reasons: Readonly<Record<string, number>>;
}

/** Its output on `outage`. */
export interface OutageResult {
  readonly count: number;
  readonly failures: number;
  /** Calls that found no stock. */
  readonly waits: number;
}

/** Its output on `errors`: an error, or null where an ID came. */
export interface ErrorsResult {
  readonly errors: readonly ({
    readonly reason: string;
    readonly code: string;
    readonly metadata: Readonly<Record<string, string>>;
    readonly retryAfterMs: number | null;
  } | null)[];
}

/** The interop program of one client, ready to run; docs/internals/client-contract.md says what it does. */
export interface ClientProgram {
  readonly language: string;
  /** Runs one of its commands to the end; what it prints. */
  run<T>(command: string, keys: Readonly<Record<string, string | number>>): Promise<T>;
}

/**
 * Builds the interop programs of all clients.
 *
 * @param folder - For what the builds leave behind.
 */
export async function buildClientPrograms(folder: string): Promise<readonly ClientProgram[]> {
  return [typeScriptProgram(), await goProgram(folder), await javaProgram(folder), await pythonProgram()];
}

function typeScriptProgram(): ClientProgram {
  return program("typescript", [process.execPath, "clients/typescript/test/interop-program.ts"]);
}

async function goProgram(folder: string): Promise<ClientProgram> {
  const path = join(folder, "interop-go");
  await runCommand("go", ["build", "-o", path, "./internal/interop"], { cwd: resolve("clients/go") });
  return program("go", [path]);
}

async function javaProgram(folder: string): Promise<ClientProgram> {
  const { maven } = await prepareJavaBuilds();
  const classpath = await compileTests(maven, join(folder, "interop-java"));
  return program("java", ["java", "-Xmx1g", "-cp", classpath, "dev.snowlane.client.InteropProgram"]);
}

async function pythonProgram(): Promise<ClientProgram> {
  const python = await fetchPythonVenv("client", readFileSync("clients/python/tests/requirements.txt", "utf8"));
  const environment = ["env", "PYTHONPATH=clients/python/src", "PYTHONDONTWRITEBYTECODE=1"];
  return program("python", [...environment, python, "clients/python/tests/interop_program.py"]);
}

function program(language: string, [command = "", ...before]: readonly string[]): ClientProgram {
  return {
    language,
    run: async <T>(name: string, keys: Readonly<Record<string, string | number>>): Promise<T> => {
      const pairs = Object.entries(keys).map(([key, value]) => `${key}=${value}`);
      const output = await runCommand(command, [...before, name, ...pairs]);
      return JSON.parse(output.trim().split("\n").at(-1) ?? "") as T;
    },
  };
}
