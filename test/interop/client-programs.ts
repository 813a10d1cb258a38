import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fetchPythonVenv } from "../support/fetch/python-venv.ts";
import { compiledTests } from "../support/processes/java-client.ts";
import { type Keys, type PrintedError, ProgramUnderTest } from "../clients/conformance/program-under-test.ts";
import type { CallResult } from "../clients/conformance/world.ts";
import { runCommand } from "../support/processes/run-command.ts";

/** What a client's interop program prints for `issue`. */
export interface IssueResult {
  readonly count: number;
  /** Calls that failed and were made again. */
  readonly failures: number;
  readonly reasons: Readonly<Record<string, number>>;
}

/** The interop program of one client, ready to run; docs/internals/client-contract.md says what it does. */
export interface ClientProgram {
  readonly language: string;
  /** How it is started. */
  readonly call: readonly string[];
  /** Runs commands, one after the other, in a process of their own; what it prints for the last. @throws Error. */
  run<T>(...commands: readonly [command: string, keys: Keys][]): Promise<T>;
}

/**
 * Builds the interop programs of all clients.
 *
 * @param folder - For what the builds leave behind.
 */
export async function buildClientPrograms(folder: string): Promise<readonly ClientProgram[]> {
  return [typeScriptProgram(), await goProgram(folder), await javaProgram(), await pythonProgram(folder)];
}

function typeScriptProgram(): ClientProgram {
  return program("typescript", [process.execPath, "clients/typescript/test/interop-program.ts"]);
}

async function goProgram(folder: string): Promise<ClientProgram> {
  const path = join(folder, "interop-go");
  await runCommand("go", ["build", "-o", path, "./internal/interop"], { cwd: resolve("clients/go") });
  return program("go", [path]);
}

async function javaProgram(): Promise<ClientProgram> {
  const { classpath, options } = await compiledTests();
  return program("java", ["java", "-Xmx1g", ...options, "-cp", classpath, "dev.snowlane.client.InteropProgram"]);
}

async function pythonProgram(folder: string): Promise<ClientProgram> {
  const python = await fetchPythonVenv("client", readFileSync("clients/python/tests/requirements.txt", "utf8"));
  // Python keeps what it compiles for the next process, and outside of the sources.
  const compiled = [`PYTHONPYCACHEPREFIX=${join(folder, "python")}`, "PYTHONDONTWRITEBYTECODE="];
  const environment = ["env", "PYTHONPATH=clients/python/src", ...compiled];
  return program("python", [...environment, python, "clients/python/tests/interop_program.py"]);
}

function program(language: string, call: readonly string[]): ClientProgram {
  return {
    language,
    call,
    run: async <T>(...commands: readonly [command: string, keys: Keys][]): Promise<T> => {
      const running = new ProgramUnderTest(call);
      try {
        let printed: { readonly error?: PrintedError } = {};
        for (const [name, keys] of commands) {
          printed = await running.send(name, keys);
          if (printed.error !== undefined) throw new Error(`${language} ${name}: ${printed.error.text}`);
        }
        return printed as T;
      } finally {
        await running.end();
      }
    },
  };
}

/** Calls `nextId` a number of times without retries; each error, or null where an ID came. */
export async function errorsOf(program: ClientProgram, { count = 1, ...keys }: Keys) {
  const client = { client: "errors" };
  const open = { ...client, retry_max: 0, timeout_ms: 60_000, attempt_timeout_ms: 30_000, ...keys };
  const { results } = await program.run<{ readonly results: readonly CallResult[] }>(
    ["open", open],
    ["call", { ...client, count }],
  );
  return results.map(({ reason, code, metadata, retryAfterMs }) =>
    reason === undefined ? null : { reason, code, metadata, retryAfterMs },
  );
}
