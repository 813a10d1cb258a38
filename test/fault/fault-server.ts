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

/** One life of a server, as it is reported to the account of all lives. */
export interface LifeReports {
  /** The arguments that this life has beside those of all lives. */
  readonly args: readonly string[];
  readonly onLine: (line: LogLine) => void;
  /** It is about to be ended in order. */
  readonly onStop: () => void;
}

/** A `snowlane serve` that can be killed and started again, paused, and asked what it logged. */
export class FaultServer {
  readonly #options: SnowlaneOptions;
  readonly #beginLife: () => LifeReports;
  #life: LifeReports | undefined;
  #log: LogLine[] = [];
  #client: GrpcIdClient | undefined;
  #hasBeenPaused = false;
  #child: ChildProcess | undefined;
  #isAbandoned = false;

  constructor(options: SnowlaneOptions, beginLife: () => LifeReports) {
    this.#options = options;
    this.#beginLife = beginLife;
  }

  /** Starts it; it must not run. Resolves when it serves. */
  async start(): Promise<this> {
    const process = await this.#spawn((child) => this.#onSpawn(child));
    if (process.child === this.#child) this.#client = new GrpcIdClient(process.address);
    return this;
  }

  /**
   * Starts it; it must not run. Resolves when it serves, or waits for a worker ID, the store or a right clock: then it
   * serves in a while.
   */
  async startOrWait(): Promise<this> {
    const serving = this.start();
    // It may be killed while it waits.
    serving.catch(() => {});
    await Promise.race([serving, this.untilLogged(["waiting", "store-problem", "clock-off"], 0)]);
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
      await (await this.#spawn(onSpawn)).stop("SIGKILL");
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
    return this.#child?.pid ?? 0;
  }

  /** Log lines of its present life. */
  get log(): readonly LogLine[] {
    return this.#log;
  }

  /** The end of that log, for people. */
  get lastLines(): string {
    return this.log
      .slice(-8)
      .map((line) => JSON.stringify(line))
      .join("\n");
  }

  /** kill -9. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  /** Ends it in order; kills it where it does not come to its end. */
  async stop(): Promise<void> {
    this.#life?.onStop();
    const timer = setTimeout(() => this.#child?.kill("SIGKILL"), 30_000);
    await this.#end("SIGTERM");
    clearTimeout(timer);
  }

  /** Kills it, also while it starts, and lets nobody start it again. */
  async abandon(): Promise<void> {
    this.#isAbandoned = true;
    await this.kill();
  }

  pause(): void {
    this.#hasBeenPaused = true;
    this.#child?.kill("SIGSTOP");
  }

  resume(): void {
    this.#hasBeenPaused = false;
    this.#child?.kill("SIGCONT");
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
        throw new Error(`No ${what} was logged within ${timeoutMs} ms:\n${this.lastLines}`);
      }
      await sleep(10);
    }
  }

  async #spawn(onSpawn: (child: ChildProcess) => void): Promise<SnowlaneProcess> {
    const life = this.#beginLife();
    this.#life = life;
    const log: LogLine[] = [];
    this.#log = log;
    const onLine = (line: LogLine): void => {
      log.push(line);
      life.onLine(line);
    };
    const { args } = this.#options;
    return await startSnowlane({ ...this.#options, args: [...args, ...life.args], onLine, onSpawn });
  }

  #onSpawn(child: ChildProcess): void {
    this.#child = child;
    if (this.#isAbandoned) child.kill("SIGKILL");
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    const client = this.#client;
    this.#client = undefined;
    this.#child = undefined;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      // Also until all that it said has been read.
      const ended = once(child, "close");
      child.kill(signal);
      if (this.#hasBeenPaused) child.kill("SIGCONT");
      await ended;
    }
    this.#hasBeenPaused = false;
    client?.close();
    // What libfaketime leaves behind when its process is killed.
    for (const name of ["faketime_shm", "sem.faketime_sem"]) {
      rmSync(`/dev/shm/${name}_${child?.pid ?? 0}`, { force: true });
    }
  }
}

/** Whether a log line tells that a worker ID was got or lost. */
function isOfGrant({ event }: LogLine): boolean {
  return event === "acquired" || event === "grant-ended";
}
