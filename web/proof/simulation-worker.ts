import type { ShownRun } from "../../test/simulation/shown/run-link.ts";
import type { RunAnswer } from "./messages.ts";
import type { RunOutcome } from "./outcome.ts";
import type { Problem } from "./proof-state.ts";
import { trustedTypes } from "../src/script-address.ts";
import { address } from "./run/worker.ts?address";

/** A run that takes longer is ended. */
const limitMs = 2_000;

/** The outcome of a run, or why there is none. */
export type Settled = { readonly outcome: RunOutcome } | { readonly problem: Problem };

interface Asked {
  readonly key: number;
  readonly run: ShownRun;
  readonly settle: (settled: Settled) => void;
}

// The page's policy lets nothing else name a script of a worker, and this one names no other.
const scripts = trustedTypes()?.createPolicy("snowlane-worker", {
  createScriptURL: (text) => {
    if (text !== address) throw new TypeError("This is not the script of the simulation.");
    return text;
  },
});

/** Runs the simulation beside the page. One run goes on at a time; where several wait, the last one is wanted. */
export class SimulationWorker {
  #worker: Worker | undefined;
  #isReady = false;
  #asked: Asked | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #key = 0;

  /** Runs once; `settle` is not called where another run was asked for meanwhile. */
  run(run: ShownRun, settle: (settled: Settled) => void): void {
    const isBusy = this.#asked !== undefined;
    this.#key += 1;
    this.#asked = { key: this.#key, run, settle };
    this.#worker ??= this.#start();
    // The run before is answered soon, and then the latest is sent.
    if (this.#isReady && !isBusy) this.#send();
  }

  /** Ends the run that goes on, and the worker. */
  end(): void {
    clearTimeout(this.#timer);
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#isReady = false;
    this.#asked = undefined;
  }

  #start(): Worker {
    const worker = new Worker(scripts?.createScriptURL(address) ?? address, { type: "module" });
    worker.addEventListener("message", ({ data }: MessageEvent<RunAnswer>) => this.#take(data));
    worker.addEventListener("error", () => this.#fail({ kind: "missing" }));
    return worker;
  }

  #send(): void {
    const { key, run } = this.#asked!;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#fail({ kind: "slow" }), limitMs);
    this.#worker!.postMessage({ key, run });
  }

  #take(answer: RunAnswer): void {
    clearTimeout(this.#timer);
    if (answer.kind === "ready") this.#isReady = true;
    else if (answer.key === this.#asked?.key) {
      const { settle } = this.#asked;
      this.#asked = undefined;
      settle(
        answer.kind === "outcome"
          ? { outcome: answer.outcome }
          : { problem: { kind: "failed", detail: answer.failure } },
      );
    }
    if (this.#asked !== undefined) this.#send();
  }

  #fail(problem: Problem): void {
    const settle = this.#asked?.settle;
    this.end();
    settle?.({ problem });
  }
}
