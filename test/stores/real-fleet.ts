import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../src/clock/clock.ts";
import { residentMb } from "../support/processes/resident-memory.ts";

/** A process of a {@link RealFleet}. */
interface Member {
  readonly child: ChildProcess;
  /** Monotonic time of its first worker ID. */
  grantedMs: number | undefined;
  /** The worker ID that it holds now. */
  workerId: string | undefined;
  id: string | undefined;
  endedGrants: number;
}

/** Processes that are loaded side by side, so that the machine is not busy with loading alone. */
const loadedAtOnce = 4;
const program = new URL("./fleet-process.ts", import.meta.url).pathname;

/** Many processes with the library, on one real store. */
export class RealFleet {
  readonly #members: Member[] = [];

  /** Starts processes that wait for {@link go}. */
  async load(storeUrl: string, count: number): Promise<void> {
    while (this.#members.length < count) {
      const first = this.#members.length;
      const length = Math.min(loadedAtOnce, count - first);
      await Promise.all(Array.from({ length }, (_, index) => this.#loadOne(storeUrl, `process-${first + index}`)));
    }
  }

  /**
   * Lets all of them take a worker ID at once, and waits until they have one.
   *
   * @returns When each had it, in order: milliseconds.
   */
  async go(timeoutMs: number): Promise<readonly number[]> {
    const startedMs = systemClock.monotonicMs();
    for (const { child } of this.#members) child.stdin!.write("go\n");
    await this.#until("every process has an ID", () => this.#members.every(({ id }) => id !== undefined), timeoutMs);
    return this.#members.map(({ grantedMs }) => grantedMs! - startedMs).toSorted((one, other) => one - other);
  }

  /** Waits until each holds a worker ID. */
  async untilAllHold(timeoutMs: number): Promise<void> {
    const allHold = (): boolean => this.#members.every(({ workerId }) => workerId !== undefined);
    await this.#until("every process holds a worker ID", allHold, timeoutMs);
  }

  /** The worker IDs that are held now. */
  get workerIds(): readonly string[] {
    return this.#members.flatMap(({ workerId }) => workerId ?? []);
  }

  /** The first ID of each. */
  get ids(): readonly string[] {
    return this.#members.flatMap(({ id }) => id ?? []);
  }

  /** Grants that ended without their holders' will. */
  get endedGrants(): number {
    return this.#members.reduce((sum, { endedGrants }) => sum + endedGrants, 0);
  }

  /** Of all processes together, in MB. */
  get residentMb(): number {
    return this.#members.reduce((sum, { child }) => sum + residentMb(child.pid), 0);
  }

  /** Ends them in order. */
  async stop(): Promise<void> {
    const running = this.#members.filter(({ child }) => child.exitCode === null && child.signalCode === null);
    const exits = running.map(({ child }) => once(child, "exit"));
    for (const { child } of this.#members) child.stdin!.end();
    const timer = setTimeout(() => this.#members.forEach(({ child }) => child.kill("SIGKILL")), 60_000);
    await Promise.all(exits);
    clearTimeout(timer);
  }

  async #loadOne(storeUrl: string, instance: string): Promise<void> {
    const child = spawn(process.execPath, [program, storeUrl, instance], { stdio: ["pipe", "pipe", "inherit"] });
    const member: Member = { child, grantedMs: undefined, workerId: undefined, id: undefined, endedGrants: 0 };
    this.#members.push(member);
    // A process that died is reported by the wait for it.
    child.stdin.on("error", () => {});
    const ready = Promise.withResolvers<void>();
    child.once("exit", () => ready.reject(new Error(`${instance} ended before it was ready`)));
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (line === "ready") ready.resolve();
      else noteEvent(member, JSON.parse(line) as Readonly<Record<string, unknown>>);
    });
    await ready.promise;
  }

  async #until(what: string, isTrue: () => boolean, timeoutMs: number): Promise<void> {
    const endMs = systemClock.monotonicMs() + timeoutMs;
    while (!isTrue()) {
      const dead = this.#members.find(({ child }) => child.exitCode !== null || child.signalCode !== null);
      if (dead !== undefined) throw new Error(`A process ended with ${dead.child.exitCode} before ${what}.`);
      if (systemClock.monotonicMs() > endMs) throw new Error(`It took longer than ${timeoutMs} ms until ${what}.`);
      await sleep(20);
    }
  }
}

function noteEvent(member: Member, event: Readonly<Record<string, unknown>>): void {
  if (event["kind"] === "acquired") {
    member.grantedMs ??= systemClock.monotonicMs();
    member.workerId = `${String(event["datacenterId"])}/${String(event["workerId"])}`;
  }
  if (event["kind"] === "grant-ended") {
    member.workerId = undefined;
    member.endedGrants += event["end"] === "released" ? 0 : 1;
  }
  if (event["kind"] === "id") member.id = String(event["id"]);
}
