import { chownSync, cpSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findFreePort } from "../processes/free-port.ts";
import { runCommand } from "../processes/run-command.ts";
import { type ServerCommand, ServerProcess } from "./server-process.ts";

/** What differs between servers. `folder` is where the data lies: empty at first. */
export interface ServerKind {
  readonly name: string;
  /** Owner of the folder and of the process, where this process may choose. */
  readonly userId?: number | undefined;
  /** Makes the first data. */
  readonly prepare?: (folder: string) => Promise<void>;
  readonly command: (folder: string, port: number) => Promise<ServerCommand>;
  /** Whether it serves; a throw counts as no. */
  readonly isReady: (port: number) => Promise<boolean>;
  readonly url: (port: number) => string;
}

/** Longest time from the start of a server to its first answer. */
const startTimeoutMs = 120_000;

/** A real server for a test: on a free loopback port, with data in a temporary folder of its own. */
export class TestServer {
  readonly port: number;
  readonly url: string;
  readonly #kind: ServerKind;
  readonly #base: string;
  #process: ServerProcess | undefined;

  private constructor(kind: ServerKind, base: string, port: number) {
    this.#kind = kind;
    this.#base = base;
    this.port = port;
    this.url = kind.url(port);
  }

  /** Makes the data and starts the server; returns when it serves. */
  static async start(kind: ServerKind): Promise<TestServer> {
    const base = mkdtempSync(join(tmpdir(), `snowlane-${kind.name}-`));
    try {
      const server = new TestServer(kind, base, await findFreePort());
      if (kind.userId !== undefined) chownSync(base, kind.userId, kind.userId);
      await server.restartEmpty();
      return server;
    } catch (error) {
      rmSync(base, { recursive: true, force: true });
      throw error;
    }
  }

  get dataFolder(): string {
    return join(this.#base, "data");
  }

  get process(): ServerProcess {
    if (this.#process === undefined) throw new Error(`${this.#kind.name} was never started`);
    return this.#process;
  }

  /** Freezes it: connections stay open, nothing is answered. */
  pause(): void {
    this.process.pause();
  }

  /** Ends a pause. */
  resume(): void {
    this.process.resume();
  }

  /** Kills it as kill -9 does. */
  async kill(): Promise<void> {
    await this.process.kill();
  }

  /** Starts it again on the same data and port, killing what runs; returns when it serves. */
  async restart(): Promise<void> {
    await this.#process?.kill();
    const { command, userId, isReady, name } = this.#kind;
    const started = ServerProcess.start({
      ...(await command(this.dataFolder, this.port)),
      ...(userId === undefined ? {} : { userId }),
    });
    this.#process = started;
    const endMs = performance.now() + startTimeoutMs;
    while (started.isRunning && performance.now() < endMs) {
      if (await isReady(this.port).catch(() => false)) return;
      await sleep(25);
    }
    await started.kill();
    throw new Error(`${name} does not serve on port ${this.port}:\n${started.output}`);
  }

  /**
   * Copies the data aside. A running server is frozen meanwhile; what that copy is worth is what a snapshot of a disk
   * is worth.
   */
  async backUp(): Promise<void> {
    this.pause();
    rmSync(this.#backup, { recursive: true, force: true });
    await copyFolder(this.dataFolder, this.#backup);
    this.resume();
  }

  /** Copies the data of the frozen server into an empty folder: see {@link backUp}. */
  async copyInto(folder: string): Promise<void> {
    this.pause();
    await copyFolder(`${this.dataFolder}/.`, folder);
    this.resume();
  }

  /** Kills the server and starts it on the data of the last {@link backUp}. */
  async restore(): Promise<void> {
    await this.kill();
    rmSync(this.dataFolder, { recursive: true, force: true });
    await copyFolder(this.#backup, this.dataFolder);
    await this.restart();
  }

  /**
   * As {@link restore}, but files whose names end so are left as they are, with their times. They must not have changed
   * since the last {@link backUp}: the data is then what a snapshot of the disk brings back, times included.
   */
  async restoreAllBut(ending: string): Promise<void> {
    await this.kill();
    for (const entry of readdirSync(this.dataFolder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (entry.isDirectory()) continue;
      if (!entry.name.endsWith(ending)) rmSync(path);
      else if (!readFileSync(path).equals(readFileSync(join(this.#backup, relative(this.dataFolder, path)))))
        throw new Error(`${path} has changed since the copy was made`);
    }
    // Node copies no socket, such as the server's own.
    const filter = (source: string): boolean => !source.endsWith(ending) && !lstatSync(source).isSocket();
    cpSync(this.#backup, this.dataFolder, { recursive: true, preserveTimestamps: true, filter });
    await this.restart();
  }

  /** Kills the server and starts it on new data, as it was at first. */
  async restartEmpty(): Promise<void> {
    await this.#process?.kill();
    rmSync(this.dataFolder, { recursive: true, force: true });
    mkdirSync(this.dataFolder);
    const { userId, prepare } = this.#kind;
    if (userId !== undefined) chownSync(this.dataFolder, userId, userId);
    await prepare?.(this.dataFolder);
    await this.restart();
  }

  /** Kills it and deletes its data. */
  async stop(): Promise<void> {
    await this.#process?.kill();
    rmSync(this.#base, { recursive: true, force: true });
  }

  get #backup(): string {
    return join(this.#base, "backup");
  }
}

/** With owners, which Node's own copy does not keep. */
async function copyFolder(from: string, to: string): Promise<void> {
  await runCommand("cp", ["-a", from, to]);
}
