import { spawn } from "node:child_process";

/** Where and with what a command runs, beside this process's own folder and environment. */
export interface CommandOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** For its standard input, which is empty otherwise. */
  readonly input?: string;
}

/**
 * Runs a command to its end.
 *
 * Returns what it wrote to standard output. Throws with the end of its standard error where it did not leave with 0.
 */
export async function runCommand(
  command: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<string> {
  const child = spawn(command, args, {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: { ...process.env, ...options.env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  // A command that leaves without reading its input says why by its exit code.
  child.stdin.on("error", () => {});
  child.stdin.end(options.input ?? "");
  const output: Buffer[] = [];
  const errors: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => errors.push(chunk));
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve, reject) => {
    child.once("error", (cause) => reject(new Error(`${command} does not start: ${cause.message}`, { cause })));
    child.once("close", (code, signal) => resolve([code, signal]));
  });
  if (code === 0) return Buffer.concat(output).toString();
  const said = Buffer.concat([...output, ...errors])
    .toString()
    .trim()
    .slice(-2_000);
  throw new Error(`${[command, ...args].join(" ")} left with ${signal ?? code}:\n${said}`);
}
