import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { IssuingOptions } from "./issuing-process.ts";

/** Every ID that any process printed. Finding one twice is what these tests are about. */
export class PrintedIds {
  readonly #ids = new Map<bigint, string>();
  readonly duplicates: string[] = [];

  get count(): number {
    return this.#ids.size;
  }

  add(firstId: bigint, count: number, stride: bigint, by: string): void {
    let id = firstId;
    for (let index = 0; index < count; index += 1) {
      const before = this.#ids.get(id);
      if (before !== undefined) this.duplicates.push(`${id}: by ${before}, then by ${by}`);
      this.#ids.set(id, by);
      id += stride;
    }
  }
}

/** Something that an issuing process reported. */
export type ProcessEvent = Readonly<Record<string, unknown>> & { readonly kind: string };

/** A real process that holds a worker ID and issues: see issuing-process.ts. */
export class IssuingProcess {
  readonly name: string;
  readonly events: ProcessEvent[] = [];
  /** IDs that it printed. */
  issued = 0;
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  #onLine: () => void = () => {};
  #stderr = "";

  constructor(name: string, options: Partial<IssuingOptions> & Pick<IssuingOptions, "storeUrl">, ids: PrintedIds) {
    this.name = name;
    const whole: IssuingOptions = {
      instance: name,
      windowMs: 10_000,
      renewalPeriodMs: 1_000,
      clockAheadMs: 0,
      count: 20,
      ...options,
    };
    const program = new URL("./issuing-process.ts", import.meta.url).pathname;
    this.#child = spawn(process.execPath, [program, JSON.stringify(whole)], { stdio: ["pipe", "pipe", "pipe"] });
    this.#exited = once(this.#child, "exit");
    this.#child.stderr!.on("data", (data: Buffer) => (this.#stderr += data.toString()));
    createInterface({ input: this.#child.stdout! }).on("line", (line) => {
      if (line.startsWith("{")) this.events.push(JSON.parse(line) as ProcessEvent);
      else {
        const [firstId, count, stride] = line.split(" ");
        // A line cut short by kill -9 is not an ID that anyone has.
        if (stride !== undefined && stride !== "") {
          ids.add(BigInt(firstId!), Number(count), BigInt(stride), name);
          this.issued += Number(count);
        }
      }
      this.#onLine();
    });
  }

  /** Waits until `condition` holds, looking at each line. */
  async until(what: string, condition: (process: this) => boolean, timeoutMs = 30_000): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      const last = JSON.stringify(this.events.slice(-5));
      reject(new Error(`${this.name} has not ${what} within ${timeoutMs} ms: ${last} ${this.#stderr}`));
    }, timeoutMs);
    this.#onLine = () => condition(this) && resolve();
    this.#onLine();
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      this.#onLine = () => {};
    }
  }

  /** Waits for the first IDs. */
  async untilIssuing(): Promise<this> {
    const { issued } = this;
    await this.until("issued", () => this.issued > issued);
    return this;
  }

  /** The worker IDs that it was granted, in order. */
  get granted(): readonly string[] {
    return this.events
      .filter(({ kind }) => kind === "acquired")
      .map(({ datacenterId, workerId }) => `${String(datacenterId)}/${String(workerId)}`);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** kill -9, and waits until it is gone and all that it printed is read. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#exited;
  }

  /** Ends it as a signal to stop would, with its release. */
  async stop(): Promise<void> {
    this.#child.stdin!.end();
    await this.#exited;
  }
}
