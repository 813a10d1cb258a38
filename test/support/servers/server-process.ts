import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { killTree, pauseTree, processTree, signal } from "../processes/process-tree.ts";

/** How a server is started. */
export interface ServerCommand {
  readonly path: string;
  readonly args: readonly string[];
  /** Laid over `process.env`. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Another user to run as, where this process may choose; for servers that refuse root. */
  readonly userId?: number;
}

/**
 * A running server. Everything is done by process ID, and to its child processes, too (PostgreSQL has one for each
 * connection).
 *
 * It dies with the process that started it, also when that is killed.
 */
export class ServerProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  #output = "";

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#exited = new Promise((resolve) => {
      child.once("exit", () => resolve());
      child.once("error", (error) => {
        this.#output += error.message;
        resolve();
      });
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (chunk: Buffer) => {
        this.#output = (this.#output + chunk.toString()).slice(-20_000);
      });
    }
  }

  /** Starts a program; whether it serves is for the caller to find out. */
  static start(command: ServerCommand): ServerProcess {
    const [path, args] = wrap(command);
    return new ServerProcess(
      spawn(path, args, {
        env: { ...process.env, ...command.env },
        stdio: ["ignore", "pipe", "pipe"],
        ...(command.cwd === undefined ? {} : { cwd: command.cwd }),
      }),
    );
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get isRunning(): boolean {
    return this.#child.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** The end of what it wrote to standard output and standard error. */
  get output(): string {
    return this.#output;
  }

  /** Freezes it: connections stay open, and nothing is answered. See {@link pauseTree}. */
  pause(): void {
    if (this.isRunning) pauseTree(this.pid);
  }

  /** Ends a pause. */
  resume(): void {
    if (this.isRunning) for (const pid of processTree(this.pid)) signal(pid, "SIGCONT");
  }

  /** Kills it (SIGKILL) and waits until it and its child processes are gone. */
  async kill(): Promise<void> {
    if (this.isRunning) await killTree(this.pid);
    await this.#exited;
  }

  /** Asks it to end (`signalName`, SIGTERM if not given), kills it after 5 s, and waits until it is gone. */
  async stop(signalName: NodeJS.Signals = "SIGTERM"): Promise<void> {
    this.resume();
    signal(this.pid, signalName);
    const ended = await Promise.race([this.#exited.then(() => true), sleep(5_000, false, { ref: false })]);
    if (!ended) await this.kill();
  }
}

/** Lets the kernel kill the server when its parent dies, and changes the user. Only Linux can. */
function wrap({ path, args, userId }: ServerCommand): [string, readonly string[]] {
  const setpriv = "/usr/bin/setpriv";
  if (!existsSync(setpriv)) return [path, args];
  const user = userId === undefined ? [] : [`--reuid=${userId}`, `--regid=${userId}`, "--clear-groups"];
  return [setpriv, [...user, "--pdeathsig=KILL", "--", path, ...args]];
}
