import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

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

  /**
   * Freezes it (SIGSTOP): connections stay open, and nothing is answered. Returns when all its threads stand: on a busy
   * machine the others go on until the one that takes the signal gets a processor.
   */
  pause(): void {
    const tree = this.#tree();
    for (const pid of tree) signal(pid, "SIGSTOP");
    const endMs = performance.now() + 30_000;
    while (tree.some(isRunning) && performance.now() < endMs) Atomics.wait(nothing, 0, 0, 1);
  }

  /** Ends a pause. */
  resume(): void {
    for (const pid of this.#tree()) signal(pid, "SIGCONT");
  }

  /** Kills it (SIGKILL) and waits until it and its child processes are gone. */
  async kill(): Promise<void> {
    // Stopped first: a child that it starts while its children are listed would outlive it, and keep its files.
    this.pause();
    const tree = this.#tree();
    for (const pid of tree) signal(pid, "SIGKILL");
    await this.#exited;
    while (tree.some(isAlive)) await sleep(5);
  }

  /** Asks it to end (`signalName`, SIGTERM if not given), kills it after 5 s, and waits until it is gone. */
  async stop(signalName: NodeJS.Signals = "SIGTERM"): Promise<void> {
    this.resume();
    signal(this.pid, signalName);
    const ended = await Promise.race([this.#exited.then(() => true), sleep(5_000, false, { ref: false })]);
    if (!ended) await this.kill();
  }

  /** The process and its children, as they are now; empty once it has ended. */
  #tree(): number[] {
    return this.isRunning ? [this.pid, ...descendants(this.pid)] : [];
  }
}

/** Lets the kernel kill the server when its parent dies, and changes the user. Only Linux can. */
function wrap({ path, args, userId }: ServerCommand): [string, readonly string[]] {
  const setpriv = "/usr/bin/setpriv";
  if (!existsSync(setpriv)) return [path, args];
  const user = userId === undefined ? [] : [`--reuid=${userId}`, `--regid=${userId}`, "--clear-groups"];
  return [setpriv, [...user, "--pdeathsig=KILL", "--", path, ...args]];
}

function descendants(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const parent = parentOf(Number(name));
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const found: number[] = [];
  for (let level = children.get(pid) ?? []; level.length > 0; level = level.flatMap((id) => children.get(id) ?? [])) {
    found.push(...level);
  }
  return found;
}

/** Never woken: for waiting without giving way. */
const nothing = new Int32Array(new SharedArrayBuffer(4));

/** Whether one of its threads neither stands nor has ended. */
export function isRunning(pid: number): boolean {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    return threads.some(
      (thread) => !["T", "t", "Z", "X", undefined].includes(statusFields(`${pid}/task/${thread}`)[0]),
    );
  } catch {
    return false;
  }
}

/** Fields after the command's name, which stands in brackets and may hold anything: state, then parent. */
function statusFields(process: number | string): string[] {
  try {
    const text = readFileSync(`/proc/${process}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return [];
  }
}

function parentOf(pid: number): number | undefined {
  const parent = statusFields(pid)[1];
  return parent === undefined ? undefined : Number(parent);
}

/** A zombie is not alive: it holds no file and no port any more. */
function isAlive(pid: number): boolean {
  const state = statusFields(pid)[0];
  return state !== undefined && state !== "Z" && state !== "X";
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
