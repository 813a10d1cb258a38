import { spawn } from "node:child_process";
import { bundledSnowlane } from "../support/processes/server-bundle.ts";

/** How a command ended. */
export interface SnowlaneRun {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that has not ended by then never does; a busy machine takes some seconds. */
const endsWithinMs = 150_000;

/** Runs `snowlane` to its end, or kills it after two and a half minutes: then the exit code is null. */
export async function runSnowlane(
  args: readonly string[],
  input: string | Buffer = "",
  environment: Readonly<Record<string, string>> = {},
): Promise<SnowlaneRun> {
  const [command = "", ...before] = await bundledSnowlane();
  const env = { ...process.env, ...environment };
  const child = spawn(command, [...before, ...args], {
    stdio: "pipe",
    env,
    timeout: endsWithinMs,
    killSignal: "SIGKILL",
  });
  const exited = new Promise<number | null>((resolve) => void child.once("close", resolve));
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      texts[name] += text;
    });
  }
  // A command that ends before it has read everything is what some tests look at.
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  return { exitCode: await exited, ...texts };
}
