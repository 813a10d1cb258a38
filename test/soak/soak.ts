import { readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../src/clock/clock.ts";
import { liveMemoryFlags, liveState } from "../support/processes/live-memory.ts";
import { residentMb } from "../support/processes/resident-memory.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";
import { RisingIds } from "./rising-ids.ts";
import { type AttackOptions, type SoakCaller, soakCallers, type SoakTarget } from "./soak-callers.ts";

/** How a soak goes. */
export interface SoakOptions extends AttackOptions {
  /** The script of the server to start. */
  readonly script: string;
  readonly storeFile: string;
  readonly durationMs: number;
  /** From one look at the server to the next; before the first the server warms up. */
  readonly lookEveryMs: number;
  /** How much more memory the last third of all looks may show than the first. 1.1: a tenth. */
  readonly growthMax: number;
  readonly onLook: (look: SoakLook) => void;
  /** Called at once with what failed. */
  readonly onFailure: (text: string) => void;
  /** Called now and then between looks. */
  readonly onProgress: (line: string) => void;
  /** Ends it early, in order. */
  readonly signal: AbortSignal;
}

/** What a server was seen with while nobody called. Counts are of all the time before. */
export interface SoakLook {
  readonly atMs: number;
  readonly calls: number;
  readonly failures: number;
  readonly idCount: number;
  readonly duplicates: number;
  readonly liveMb: number;
  readonly residentMb: number;
  readonly openFiles: number;
  readonly timers: number;
}

/** The outcome of a soak. */
export interface SoakResult {
  readonly looks: readonly SoakLook[];
  /** The violations; empty if there were none. */
  readonly problems: readonly string[];
}

/** Times that a soak can wait for, so that attacks on the server's patience end; a busy machine stays far below. */
const limits = [
  ["--stall-timeout", "15s"],
  ["--wait-max", "60s"],
  ["--http2-limits", "bodyTimeoutMs=15000"],
].flat();
/** How long the last calls and connections may take to end before a look. */
const quietMs = 60_000;
const pollMs = 50;
/** Texts of failures that are kept. */
const textsMax = 10;

/** Callers that can be held still between two rounds. */
class Callers {
  readonly #target: SoakTarget;
  readonly #running: readonly Promise<void>[];
  #isHeld = false;
  #isEnding = false;
  #active = 0;

  constructor(target: SoakTarget, kinds: readonly SoakCaller[]) {
    this.#target = target;
    this.#running = kinds.flatMap((kind) => Array.from({ length: kind.count }, () => this.#run(kind)));
  }

  /** Resolves with whether all stand still. */
  async hold(): Promise<boolean> {
    this.#isHeld = true;
    return await within(quietMs, () => this.#active === 0);
  }

  release(): void {
    this.#isHeld = false;
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    await Promise.all(this.#running);
  }

  async #run({ name, pauseMs, round }: SoakCaller): Promise<void> {
    for (let index = 0; !this.#isEnding; index++) {
      if (!this.#isHeld) {
        this.#active++;
        await round(this.#target, index).catch((error: unknown) => this.#target.onFailure(`${name}: ${String(error)}`));
        this.#active--;
      }
      await sleep(pauseMs);
    }
  }
}

async function within(timeoutMs: number, isSo: () => boolean): Promise<boolean> {
  const endMs = systemClock.monotonicMs() + timeoutMs;
  while (!isSo() && systemClock.monotonicMs() < endMs) await sleep(pollMs);
  return isSo();
}

function openFiles({ child }: SnowlaneProcess): number {
  return readdirSync(`/proc/${child.pid}/fd`).length;
}

/** A soak that is under way. */
class Soak {
  readonly looks: SoakLook[] = [];
  readonly problems: string[] = [];
  readonly #server: SnowlaneProcess;
  readonly #callers: Callers;
  readonly #ids = new RisingIds();
  readonly #startMs = systemClock.monotonicMs();
  /** Open files of a server that nobody has called yet. */
  readonly #filesAtFirst: number;
  #calls = 0;
  #failures = 0;
  #duplicates = 0;

  constructor(server: SnowlaneProcess, kinds: readonly SoakCaller[], tellFailure: (text: string) => void) {
    this.#server = server;
    this.#filesAtFirst = openFiles(server);
    const onFailure = (text: string): void => {
      this.#failures++;
      if (this.#failures <= textsMax) this.problems.push(text);
      tellFailure(text);
    };
    this.#callers = new Callers({ server, ids: this.#ids, onCall: () => void this.#calls++, onFailure }, kinds);
  }

  get elapsedMs(): number {
    return systemClock.monotonicMs() - this.#startMs;
  }

  get progress(): string {
    return `${this.#calls} calls, ${this.#failures} failed, ${this.#ids.idCount} IDs`;
  }

  /** Holds all callers still, and looks at the server. */
  async look(): Promise<SoakLook> {
    if (!(await this.#callers.hold())) this.problems.push(`callers were still waiting after ${quietMs} ms`);
    // The connections of the last calls are closed a second after their end.
    await within(quietMs, () => openFiles(this.#server) <= this.#filesAtFirst);
    this.#duplicates += this.#ids.endPart();
    const look = {
      atMs: this.elapsedMs,
      calls: this.#calls,
      failures: this.#failures,
      idCount: this.#ids.idCount,
      duplicates: this.#duplicates,
      residentMb: residentMb(this.#server.child.pid),
      openFiles: openFiles(this.#server),
      ...(await liveState(this.#server)),
    };
    this.looks.push(look);
    this.#callers.release();
    return look;
  }

  async end(): Promise<void> {
    await this.#callers.end();
    const { log } = this.#server;
    const errors = log.filter(({ level }) => level === "error").map((line) => JSON.stringify(line));
    this.problems.push(...errors.slice(0, textsMax));
    const exit = await this.#server.stop("SIGTERM");
    if (exit !== 0) this.problems.push(`the server ended with ${exit}`);
  }
}

/** The figures that have grown from the first third of the looks to the last. */
function growth(looks: readonly SoakLook[], growthMax: number): string[] {
  const third = Math.max(1, Math.floor(looks.length / 3));
  const [first, last] = [looks.slice(0, third), looks.slice(-third)];
  const mean = (some: readonly SoakLook[]): number => some.reduce((sum, look) => sum + look.liveMb, 0) / some.length;
  const most = (some: readonly SoakLook[], name: "openFiles" | "timers"): number =>
    Math.max(...some.map((look) => look[name]));
  const found: string[] = [];
  if (mean(last) > mean(first) * growthMax) {
    found.push(`memory in use has grown from ${mean(first).toFixed(1)} to ${mean(last).toFixed(1)} MB`);
  }
  for (const name of ["openFiles", "timers"] as const) {
    if (most(last, name) > most(first, name)) {
      found.push(`${name} have grown from ${most(first, name)} to ${most(last, name)}`);
    }
  }
  return found;
}

/**
 * Starts a server with the HTTP/2 engine and calls it in every way, rightly and wrongly, until the time is over. Every
 * now and then all callers stand still, and what the server then still holds is noted.
 */
export async function soak(options: SoakOptions): Promise<SoakResult> {
  const { script, storeFile, durationMs, lookEveryMs, growthMax, onLook, onProgress, signal } = options;
  const server = await startSnowlane({
    program: [process.execPath, ...liveMemoryFlags, script],
    args: ["--http2", "engine", "--store", `sqlite:${storeFile}`, ...limits],
  });
  const running = new Soak(server, soakCallers(options), options.onFailure);
  while (running.elapsedMs < durationMs && !signal.aborted) {
    const lookMs = Math.min(running.elapsedMs + lookEveryMs, durationMs);
    while (running.elapsedMs < lookMs && !signal.aborted) {
      await sleep(Math.min(1_000, lookEveryMs));
      onProgress(running.progress);
    }
    onLook(await running.look());
  }
  await running.end();
  const { looks, problems } = running;
  const duplicates = looks.at(-1)?.duplicates ?? 0;
  if (duplicates > 0) problems.push(`${duplicates} IDs came twice`);
  return { looks, problems: [...problems, ...growth(looks, growthMax)] };
}
