import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../src/clock/clock.ts";
import { GrpcIdClient } from "../support/processes/grpc-id-client.ts";
import {
  type LogLine,
  type SnowlaneOptions,
  type SnowlaneProcess,
  startSnowlane,
} from "../support/processes/snowlane-process.ts";

/** A `snowlane serve` that can be killed and started again, paused, and asked what it logged. */
export class FaultServer {
  readonly #options: SnowlaneOptions;
  #process: SnowlaneProcess | undefined;
  #client: GrpcIdClient | undefined;
  #hasBeenPaused = false;
  #child: ChildProcess | undefined;
  #isAbandoned = false;

  constructor(options: SnowlaneOptions) {
    this.#options = options;
  }

  /** Starts it; it must not run. Resolves when it serves. */
  async start(): Promise<this> {
    const process = await startSnowlane({ ...this.#options, onSpawn: (child) => this.#onSpawn(child) });
    this.#process = process;
    this.#client = new GrpcIdClient(process.address);
    return this;
  }

  /** Starts it and kills it `afterMs` later, wherever it is by then; it must not run. */
  async startAndKill(afterMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const onSpawn = (child: ChildProcess): void => {
      this.#onSpawn(child);
      timer = setTimeout(() => child.kill("SIGKILL"), afterMs);
    };
    try {
      await (await startSnowlane({ ...this.#options, onSpawn })).stop("SIGKILL");
    } catch {
      // It was killed before it served.
    } finally {
      clearTimeout(timer);
    }
  }

  /** undefined while it does not run. */
  get client(): GrpcIdClient | undefined {
    return this.#client;
  }

  get processId(): number {
    return this.#process?.child.pid ?? 0;
  }

  /** Log lines of its present life. */
  get log(): readonly LogLine[] {
    return this.#process?.log ?? [];
  }

  /** kill -9. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  /** Ends it in order; kills it where it does not come to its end. */
  async stop(): Promise<void> {
    const timer = setTimeout(() => this.#process?.child.kill("SIGKILL"), 30_000);
    await this.#end("SIGTERM");
    clearTimeout(timer);
  }

  /** Kills it, also while it starts, and lets nobody start it again. */
  async abandon(): Promise<void> {
    this.#isAbandoned = true;
    const child = this.#child;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    }
    await this.kill();
  }

  pause(): void {
    this.#hasBeenPaused = true;
    this.#process?.child.kill("SIGSTOP");
  }

  resume(): void {
    this.#hasBeenPaused = false;
    this.#process?.child.kill("SIGCONT");
  }

  /** How many log lines there are, for {@link untilLogged}. */
  mark(): number {
    return this.log.length;
  }

  /** Waits for one of some events of the worker behind a {@link mark}; the fields are those of the log line. */
  async untilLogged(events: readonly string[], mark: number, fields: LogLine = {}, timeoutMs = 120_000): Promise<void> {
    const isWanted = (line: LogLine): boolean =>
      events.includes(String(line["event"])) && Object.entries(fields).every(([key, value]) => line[key] === value);
    await this.#until(() => this.log.slice(mark).some(isWanted), events.join(", no "), timeoutMs);
  }

  /** Waits until what it said last of its worker ID is that it holds one. */
  async untilHolding(timeoutMs = 120_000): Promise<void> {
    const isHolding = (): boolean => this.log.findLast(isOfGrant)?.["event"] !== "grant-ended";
    await this.#until(isHolding, "worker ID", timeoutMs);
  }

  /** Waits for a line behind a {@link mark} that has `words` in it. */
  async untilSaid(words: string, mark: number, timeoutMs = 120_000): Promise<void> {
    const isSaid = (): boolean => this.log.slice(mark).some((line) => JSON.stringify(line).includes(words));
    await this.#until(isSaid, JSON.stringify(words), timeoutMs);
  }

  async #until(isLogged: () => boolean, what: string, timeoutMs: number): Promise<void> {
    const endMs = systemClock.monotonicMs() + timeoutMs;
    while (!isLogged()) {
      if (systemClock.monotonicMs() > endMs) {
        const lines = this.log.slice(-8).map((line) => JSON.stringify(line));
        throw new Error(`No ${what} was logged within ${timeoutMs} ms:\n${lines.join("\n")}`);
      }
      await sleep(10);
    }
  }

  #onSpawn(child: ChildProcess): void {
    this.#child = child;
    if (this.#isAbandoned) child.kill("SIGKILL");
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const process = this.#process;
    const client = this.#client;
    this.#client = undefined;
    if (this.#hasBeenPaused) this.resume();
    await process?.stop(signal);
    client?.close();
    // What libfaketime leaves behind when its process is killed.
    for (const name of ["faketime_shm", "sem.faketime_sem"]) {
      rmSync(`/dev/shm/${name}_${process?.child.pid ?? 0}`, { force: true });
    }
    this.#process = undefined;
  }
}

/** Whether a log line tells that a worker ID was got or lost. */
function isOfGrant({ event }: LogLine): boolean {
  return event === "acquired" || event === "grant-ended";
}
