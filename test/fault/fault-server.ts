import { rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type Client, createClient } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { systemClock } from "../../src/clock.ts";
import { IdService } from "../../src/gen/snowlane/v1/id_service_pb.ts";
import {
  type LogLine,
  type SnowlaneOptions,
  type SnowlaneProcess,
  startSnowlane,
} from "../support/snowlane-process.ts";

/** A `snowlane serve` that can be killed and started again, paused, and asked what it logged. */
export class FaultServer {
  readonly #options: SnowlaneOptions;
  #process: SnowlaneProcess | undefined;
  #session: Http2SessionManager | undefined;
  #client: Client<typeof IdService> | undefined;
  #hasBeenPaused = false;

  constructor(options: SnowlaneOptions) {
    this.#options = options;
  }

  /** Starts it; it must not run. Resolves when it serves. */
  async start(): Promise<this> {
    const process = await startSnowlane(this.#options);
    this.#process = process;
    this.#session = new Http2SessionManager(process.url);
    this.#client = createClient(
      IdService,
      createGrpcTransport({ baseUrl: process.url, sessionManager: this.#session }),
    );
    return this;
  }

  /** undefined while it does not run. */
  get client(): Client<typeof IdService> | undefined {
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

  /** Waits for an event of the worker behind a {@link mark}; the fields are those of the log line. */
  async untilLogged(event: string, mark: number, fields: LogLine = {}, timeoutMs = 120_000): Promise<void> {
    const isWanted = (line: LogLine): boolean =>
      line["event"] === event && Object.entries(fields).every(([key, value]) => line[key] === value);
    const endMs = systemClock.monotonicMs() + timeoutMs;
    while (!this.log.slice(mark).some(isWanted)) {
      if (systemClock.monotonicMs() > endMs) {
        const lines = this.log.slice(-8).map((line) => JSON.stringify(line));
        throw new Error(`No ${event} was logged within ${timeoutMs} ms:\n${lines.join("\n")}`);
      }
      await sleep(10);
    }
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const process = this.#process;
    this.#client = undefined;
    if (this.#hasBeenPaused) this.resume();
    await process?.stop(signal);
    this.#session?.abort();
    // What libfaketime leaves behind when its process is killed.
    for (const name of ["faketime_shm", "sem.faketime_sem"]) {
      rmSync(`/dev/shm/${name}_${process?.child.pid ?? 0}`, { force: true });
    }
    this.#process = undefined;
  }
}
