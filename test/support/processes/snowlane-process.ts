import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { bundledSnowlane } from "./server-bundle.ts";

/** A log line of `snowlane serve --log-format json`. */
export type LogLine = Readonly<Record<string, unknown>>;

/** A running `snowlane serve`. */
export interface SnowlaneProcess {
  readonly child: ChildProcess;
  /** `127.0.0.1:PORT`. */
  readonly address: string;
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** Log lines so far; grows. */
  readonly log: readonly LogLine[];
  /** Sends a signal and resolves with the exit code, or the signal that ended it. */
  readonly stop: (signal: NodeJS.Signals) => Promise<number | NodeJS.Signals>;
}

/** How to start it. */
export interface SnowlaneOptions {
  /** Beside `serve`, the address and the log format. */
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** `127.0.0.1:PORT`; by default a free port. */
  readonly listen?: string;
  /** The program before the arguments; by default the bundle. */
  readonly program?: readonly string[];
  /** Called with the process as soon as there is one. */
  readonly onSpawn?: (child: ChildProcess) => void;
  /** Called with each log line, also of a process that ends before it serves. */
  readonly onLine?: (line: LogLine) => void;
}

/**
 * Starts `snowlane serve` on a free port, and resolves when it serves.
 *
 * @throws Error with its log if it ends instead.
 */
export async function startSnowlane(options: SnowlaneOptions): Promise<SnowlaneProcess> {
  const { args, environment, listen, program, onSpawn, onLine } = options;
  const [command = "", ...before] = program ?? (await bundledSnowlane());
  const flags = ["serve", "--listen", listen ?? "127.0.0.1:0", "--log-format", "json", ...args];
  const child = spawn(command, [...before, ...flags], {
    stdio: ["ignore", "ignore", "pipe"],
    // Nothing is left in this user's own folders.
    env: { ...process.env, SNOWLANE_RESUME_DIR: "off", ...environment },
  });
  onSpawn?.(child);
  const log: LogLine[] = [];
  const ended = once(child, "exit");
  const serving = Promise.withResolvers<LogLine>();
  createInterface({ input: child.stderr }).on("line", (text) => {
    const line: LogLine = text.startsWith("{") ? JSON.parse(text) : { message: text };
    log.push(line);
    onLine?.(line);
    if (line["message"] === "Serves IDs") serving.resolve(line);
  });
  const failed = ended.then(([code, signal]) => {
    // The reason comes first: a report of many tests shows but the beginning.
    throw new Error(
      `snowlane serve ended with ${code ?? signal}, last line first: ${JSON.stringify(log.toReversed())}`,
    );
  });
  failed.catch(() => undefined);
  const { address } = await Promise.race([serving.promise, failed]);
  return {
    child,
    address: String(address),
    url: `http://${String(address)}`,
    log,
    stop: async (signal) => {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      const [code, killed] = await ended;
      return code ?? killed;
    },
  };
}
