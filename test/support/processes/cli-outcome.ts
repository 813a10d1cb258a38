import { spawn } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "./running-server.ts";
import { bundledSnowlane } from "./server-bundle.ts";

/** How a command ended, and what it wrote. */
export interface CliOutcome {
  /** null: killed by a signal. */
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** How a command is run. */
export interface CliOptions {
  readonly input?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** The program before the command and its arguments; by default the bundle. */
  readonly program?: readonly string[];
}

/** Runs a command of `snowlane` to its end, with a state folder of its own. */
export async function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliOutcome> {
  const { input = "", environment, program = await bundledSnowlane() } = options;
  const [command = "", ...before] = program;
  const env = {
    ...process.env,
    XDG_STATE_HOME: temporaryFolder(),
    npm_lifecycle_event: "",
    FORCE_COLOR: "0",
    ...environment,
  };
  const child = spawn(command, [...before, ...args], { env, stdio: "pipe" });
  onTestFinished(() => void child.kill("SIGKILL"));
  const stdout: Buffer[] = [];
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  const [code] = await once(child, "close");
  return { code, stdout: Buffer.concat(stdout), stderr };
}
