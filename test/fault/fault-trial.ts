import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/clock/clock.ts";
import { kernelRandom128 } from "../../src/kernel-random.ts";
import { IdLoad } from "../support/processes/id-load.ts";
import { bundledProgram } from "../support/processes/server-bundle.ts";
import type { LoggedGrant } from "../support/worlds/grant-pieces.ts";
import { IssuedRuns } from "../support/worlds/issued-runs.ts";
import { SeededRandom } from "../support/worlds/seeded-random.ts";
import { FakedClock } from "./faked-clock.ts";
import { FaultServer } from "./fault-server.ts";
import { gutting } from "./gutting.ts";
import { IssueLogs, layoutFlags } from "./issue-logs.ts";
import { readMarks } from "./store-marks.ts";

/** How a trial is run. */
export interface TrialOptions {
  /** The store that the servers share; absent = an embedded one in the trial's own folder. */
  readonly storeUrl?: string | undefined;
  /**
   * `user`: servers and callers wait as long as they do by default. `test`: so long that a machine that is busy with
   * other things fails nobody.
   */
  readonly patience: "user" | "test";
  readonly seed: number;
  /** How many worker IDs the servers have between them; absent: 1,024. */
  readonly workerIdCount?: number | undefined;
  /** Servers that go without one rule of the protocol, to see whether the fault shows it; see gutting.ts. */
  readonly gutted?: string | undefined;
  /** Called after each fault that was injected. */
  readonly onInjected: () => void;
}

/** How a server of a trial differs from others. */
export interface TrialServerOptions {
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** The program that starts the server: it comes before the server's own command. */
  readonly launcher?: readonly string[];
  /** Where the embedded store's file is, if not at {@link FaultTrial.storePath}. */
  readonly storePath?: string;
  /** The store, where the fault has started one of its own. */
  readonly storeUrl?: string;
}

/**
 * What a failed request is. `each-call`: one that its server does not answer with an ID. `any-server`: one that no
 * server has answered although the caller tried one after the other.
 */
export type FailureKind = "each-call" | "any-server";

/** The outcome of a trial. */
export interface TrialOutcome {
  readonly injectedCount: number;
  /** By the servers' issue log. */
  readonly issuedCount: number;
  /** IDs that are in the log again, or that callers were given again. */
  readonly duplicateCount: number;
  /** Worker IDs that went from one process to another that did not get them from its hands. */
  readonly takeoverCount: number;
  readonly requestCount: number;
  readonly failedCount: number;
  readonly longestGapMs: number;
  /** Other violations, in words: an ID that is not in the log, a server that did not do what it must. */
  readonly problems: readonly string[];
  /** Why it was not played to its end, in words. */
  readonly errors: readonly string[];
  /** The errors of the first failed requests. */
  readonly failures: readonly string[];
  /** Figures that belong beside the others, in words. */
  readonly notes: readonly string[];
}

const loadRates = {
  calm: { callerCount: 2, streamCount: 1, pauseMs: 20 },
  brisk: { callerCount: 6, streamCount: 1, pauseMs: 2 },
  bulk: { callerCount: 1, streamCount: 4, pauseMs: 0, stream: { idCount: 1_000_000, chunkSize: 10_000 } },
} as const;

/** How much callers ask for. */
export type LoadRate = keyof typeof loadRates;

const waits = {
  user: { waitMax: "1s", callTimeoutMs: 5_000, shortCallTimeoutMs: 400, requestTimeoutMs: 2_000 },
  test: { waitMax: "30s", callTimeoutMs: 60_000, shortCallTimeoutMs: 2_000, requestTimeoutMs: 60_000 },
} as const;

/** Of one kind: the first say enough. */
const problemsMax = 5;

/** Servers on one store, callers that ask them for IDs, and a log of all issued IDs: a fault is injected into these. */
export class FaultTrial {
  readonly folder = mkdtempSync(join(tmpdir(), "snowlane-fault-"));
  readonly random: SeededRandom;
  readonly notes: string[] = [];
  readonly problems: string[] = [];
  readonly #logs = new IssueLogs(this.folder);
  injectedCount = 0;
  readonly #options: TrialOptions;
  readonly #namespace = `fault-${kernelRandom128()}`;
  readonly #servers: FaultServer[] = [];
  #load: IdLoad | undefined;
  #isAbandoned = false;
  readonly #ends: (() => Promise<void>)[] = [];

  constructor(options: TrialOptions) {
    this.#options = options;
    this.random = new SeededRandom(options.seed);
  }

  /** Whether the servers have all rules of the protocol. */
  get build(): "whole" | "gutted" {
    return this.#options.gutted === undefined ? "whole" : "gutted";
  }

  /** Whether the servers share a file of this machine. */
  get isEmbedded(): boolean {
    return this.#options.storeUrl === undefined;
  }

  /** The embedded store's file. */
  get storePath(): string {
    return join(this.folder, "snowlane.db");
  }

  /** Starts a server; its name is its own over its lives. Where worker IDs are few it may have to wait for one. */
  async startServer(options: TrialServerOptions = {}): Promise<FaultServer> {
    if (this.#isAbandoned) throw new Error("The trial has ended.");
    const { args = [], environment = {}, launcher = [], storePath = this.storePath } = options;
    const remote = options.storeUrl ?? this.#options.storeUrl;
    const { patience, workerIdCount, gutted } = this.#options;
    const instance = `server-${this.#servers.length}`;
    const flags = {
      ...layoutFlags,
      ...(workerIdCount === undefined ? {} : { "worker-ids": `0-${workerIdCount - 1}`, "wait-for-worker-id": "10m" }),
      store: remote ?? `sqlite:${storePath}`,
      ...(remote === undefined ? {} : { "resume-dir": join(this.folder, "resume") }),
      namespace: this.#namespace,
      instance,
      "wait-max": waits[patience].waitMax,
    };
    const all = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
    const build = gutted === undefined ? [bundledProgram] : [...gutting(gutted), "src/cli/main.ts"];
    const program = [...launcher, process.execPath, ...build];
    // Sources are slow to start without it.
    const cache =
      gutted === undefined
        ? {}
        : { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? join(this.folder, "compiled") };
    const server = new FaultServer(
      { args: [...all, ...args], environment: { ...environment, ...cache }, program },
      () => this.#logs.beginLife(instance),
    );
    this.#servers.push(server);
    return await server.startOrWait();
  }

  /** A clock for a server; its environment goes to {@link startServer}. */
  async createClock(): Promise<FakedClock> {
    return await FakedClock.create(join(this.folder, "clock"));
  }

  /** Begins to ask all servers of the trial for IDs. */
  startLoad(failures: FailureKind, rate: LoadRate = "brisk"): IdLoad {
    const { callTimeoutMs, shortCallTimeoutMs, requestTimeoutMs } = waits[this.#options.patience];
    this.#load = new IdLoad({
      targets: () => this.#servers.map(({ client }) => client),
      ...loadRates[rate],
      callTimeoutMs: failures === "each-call" ? callTimeoutMs : shortCallTimeoutMs,
      requestTimeoutMs: failures === "each-call" ? 0 : requestTimeoutMs,
    });
    return this.#load;
  }

  /** Has something done when all servers have ended: what the fault itself has started is to end then. */
  onEnd(end: () => Promise<void>): void {
    this.#ends.push(end);
  }

  /**
   * Takes note of the marks in the embedded store: what is granted from now on begins above them.
   *
   * @param servers - `running`: servers whose wall clocks are right. `ended`: all servers.
   * @returns The marks.
   */
  noteMarks(servers: "running" | "ended"): readonly number[] {
    const [nowMs, lifeCount] = [systemClock.nowMs(), this.#logs.lifeCount];
    const isBefore = ({ atMs, life }: LoggedGrant): boolean =>
      servers === "running" ? atMs > nowMs : life >= lifeCount;
    const marks = readMarks(this.storePath);
    for (const mark of marks) this.#logs.pieces.saw({ ...mark, isBefore });
    return marks.map(({ markMs }) => markMs);
  }

  /** Counts a fault that was injected. */
  injected(): void {
    this.injectedCount += 1;
    this.#options.onInjected();
  }

  /** Ends callers and servers, and compares what callers have with what servers issued. */
  async finish(): Promise<TrialOutcome> {
    try {
      await this.#load?.stop();
      await Promise.all(this.#servers.map((server) => server.stop()));
      return this.#judge();
    } finally {
      await this.abandon();
    }
  }

  /** Ends everything at once. */
  async abandon(): Promise<void> {
    this.#isAbandoned = true;
    const stopping = this.#load?.stop();
    await Promise.all(this.#servers.map((server) => server.abandon()));
    await stopping;
    for (const end of this.#ends.splice(0)) await end();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #judge(): TrialOutcome {
    const issued = this.#logs.readIssued();
    const received = this.#load?.received ?? new IssuedRuns();
    const problems = [...this.problems, ...this.#logs.findOverlaps().slice(0, problemsMax)];
    const twice = issued.findRepeated() ?? received.findRepeated();
    if (twice !== undefined) problems.push(`ID ${twice} was issued or delivered twice`);
    const unknown = received.findMissingFrom(issued);
    if (unknown !== undefined) problems.push(`ID ${unknown} was delivered and is not in the issue log`);
    if (received.idCount === 0) problems.push("nobody was given an ID");
    const { requestCount = 0, failedCount = 0, longestGapMs = 0, failures = [] } = this.#load ?? {};
    return {
      injectedCount: this.injectedCount,
      issuedCount: issued.idCount,
      duplicateCount: issued.countRepeated() + received.countRepeated(),
      takeoverCount: this.#logs.pieces.countTakeovers(),
      requestCount,
      failedCount,
      longestGapMs,
      problems,
      errors: [],
      failures,
      notes: this.notes,
    };
  }
}
