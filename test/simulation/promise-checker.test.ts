import { expect, test } from "vitest";
import { composeId } from "../../src/snowflake/layout.ts";
import { presetLayout } from "../../src/snowflake/presets.ts";
import { PromiseChecker } from "./promise-checker.ts";
import type { SimulatedMachine } from "./simulated-machine.ts";
import type { SimulatedProcess } from "./simulated-process.ts";
import type { StoreTraits } from "./simulated-store.ts";
import { anyStore } from "./store-model.ts";

/**
 * That no seed breaks a promise says little of a checker that sees nothing. Each promise of docs/evidence.md is broken
 * here by hand, beside the same history with the promise kept.
 */

const layout = presetLayout("twitter");
const startMs = Date.UTC(2027, 5, 1);
const windowMs = 10_000;
const traits = {
  durability: "durable",
  hasClock: false,
  liveness: "ttl",
  timing: { windowMs, renewalPeriodMs: 2_000, ttlMs: 30_000 },
  model: anyStore.durable,
} as const satisfies StoreTraits;

/** Two processes with true clocks on one worker ID each, and what the checker makes of what they do. */
class Story {
  readonly checker = new PromiseChecker(layout, traits, "advance");
  trueMs = startMs;
  readonly #processes = new Map<string, SimulatedProcess>();
  #generation = 0;
  readonly #texts = new Map<string, string>();

  /** A process begins a grant that the store has taken, up to a mark that was confirmed to it. */
  acquire(name: string, workerId: number, markMs = this.trueMs + windowMs): void {
    this.#generation += 1;
    const generation = this.#generation;
    const text = JSON.stringify({ generation, token: `t${generation}`, hwmMs: markMs, holder: { instance: name } });
    const key = `worker-${workerId}`;
    this.#texts.set(key, text);
    this.checker.onApplied(key, text, this.trueMs, () => this.#process(name).machine);
    this.checker.onRecord(name, { key, text }, "confirmed");
    const place = { datacenterId: 0, workerId, generation };
    this.checker.onEvent(this.#process(name), { kind: "acquired", ...place, fromMs: this.trueMs, untilMs: markMs });
  }

  issue(name: string, workerId: number, timestampMs = this.trueMs, sequence = 0): void {
    const ticks = timestampMs - layout.epochMs;
    const firstId = composeId(layout, { ticks, datacenterId: 0, workerId, sequence });
    this.checker.onRun(this.#process(name), { firstId, count: 1, stride: 1n });
  }

  /** The store goes back to before a worker ID was held, and shows it in nothing. */
  forget(workerId: number): void {
    const key = `worker-${workerId}`;
    this.checker.onUnseenLoss(new Map([[key, this.#texts.get(key)!]]), new Map(), this.trueMs);
  }

  /** Somebody puts down a quarantine mark. */
  mark(): void {
    const text = JSON.stringify({ sinceMs: this.trueMs, untilMs: this.trueMs + windowMs });
    this.checker.onApplied("quarantine", text, this.trueMs, () => this.#process("a").machine);
  }

  /** An answer shows another holder's record to a process. */
  show(name: string, workerId: number): void {
    const record = { generation: 0, token: "older", hwmMs: this.trueMs, holder: { instance: "older" } };
    this.checker.onRecord(name, { key: `worker-${workerId}`, text: JSON.stringify(record) }, "confirmed");
  }

  end(name: string): void {
    const event = { kind: "grant-ended", end: "lapsed" } as Parameters<PromiseChecker["onEvent"]>[1];
    this.checker.onEvent(this.#process(name), event);
  }

  writeLayout(epochMs: number): void {
    const text = JSON.stringify({ epochMs, tickNs: 1, fields: [] });
    this.checker.onApplied("layout", text, this.trueMs, () => this.#process("a").machine);
  }

  /** The promises that were broken. */
  broken(): readonly string[] {
    this.checker.finish();
    return [...new Set(this.checker.history.violations.map(({ promise }) => promise))];
  }

  #process(name: string): SimulatedProcess {
    const known = this.#processes.get(name);
    if (known !== undefined) return known;
    const trueMs = (): number => this.trueMs;
    const machine = {
      nowMs: trueMs,
      get trueMs() {
        return trueMs();
      },
      hasRegressed: false,
      aheadMaxMs: 0,
      backwardMs: 0,
      believedAheadMaxMs: () => 0,
    } as unknown as SimulatedMachine;
    const process = { name, machine, mirror: { askedFor: new Map() } } as unknown as SimulatedProcess;
    this.#processes.set(name, process);
    this.checker.onStart(process, { instance: name, sinceMs: this.trueMs, indexes: { first: 0, last: 30 } });
    return process;
  }
}

interface Breach {
  /** The promise, and how it is broken. */
  readonly seen: string;
  readonly kept: (story: Story) => void;
  readonly broken: (story: Story) => void;
  /** Promises that the same act breaks. */
  readonly besides?: readonly string[];
}

const breaches: readonly Breach[] = [
  {
    seen: "S1 where an ID comes twice",
    kept: (story) => story.issue("a", 1, story.trueMs, 1),
    broken: (story) => story.issue("a", 1, story.trueMs, 0),
    besides: ["S3"],
  },
  {
    seen: "S1 where an ID comes twice, granted again after the mark of a loss that did not show",
    kept: (story) => {
      story.forget(1);
      story.acquire("b", 1);
      story.issue("b", 1);
      story.mark();
    },
    broken: (story) => {
      story.forget(1);
      story.mark();
      story.acquire("b", 1);
      story.issue("b", 1);
    },
    besides: ["S3"],
  },
  {
    seen: "S1 where an ID comes twice, above the mark that the loss took along",
    kept: (story) => {
      story.forget(1);
      story.acquire("b", 1);
      story.issue("b", 1);
    },
    broken: (story) => {
      story.acquire("c", 2);
      story.forget(2);
      story.acquire("b", 1);
      story.issue("b", 1);
    },
  },
  {
    seen: "S1 where a holder goes on after an answer showed the loss of its record",
    kept: (story) => {
      story.forget(1);
      story.issue("a", 1, story.trueMs, 1);
    },
    broken: (story) => {
      story.forget(1);
      story.show("a", 1);
      story.issue("a", 1, story.trueMs, 1);
    },
  },
  {
    seen: "S1 where a process issues for a worker ID that is not bound to it",
    kept: (story) => {
      story.acquire("a", 30);
      story.issue("a", 30);
    },
    broken: (story) => {
      story.acquire("a", 31);
      story.issue("a", 31);
    },
  },
  {
    seen: "S2 where a timestamp reaches the mark that was confirmed",
    kept: (story) => {
      story.trueMs += windowMs - 1;
      story.issue("a", 1);
    },
    broken: (story) => {
      story.trueMs += windowMs;
      story.issue("a", 1);
    },
  },
  {
    seen: "S3 where an ID of a later grant is below one of an earlier grant",
    kept: (story) => {
      story.acquire("b", 1);
      story.issue("b", 1, story.trueMs + 1);
    },
    broken: (story) => {
      story.acquire("b", 1);
      story.issue("b", 1, story.trueMs - 1);
    },
  },
  {
    seen: "S4 where an ID is older than those that others had issued long before",
    kept: (story) => {
      story.acquire("b", 2);
      story.trueMs += 1_000;
      story.issue("a", 1);
      story.issue("b", 2);
    },
    broken: (story) => {
      story.acquire("b", 2);
      story.trueMs += 1_000;
      story.issue("a", 1);
      story.issue("b", 2, story.trueMs - 500);
    },
    besides: ["S5"],
  },
  {
    seen: "S5 where a timestamp is further ahead than clock and lead allow",
    kept: (story) => story.issue("a", 1, story.trueMs + 10),
    broken: (story) => story.issue("a", 1, story.trueMs + 100),
  },
  {
    seen: "S6 where the epoch of a deployment changes",
    kept: (story) => {
      story.writeLayout(1);
      story.writeLayout(1);
    },
    broken: (story) => {
      story.writeLayout(1);
      story.writeLayout(2);
    },
  },
  {
    seen: "S7 where an ID comes after its grant has ended",
    kept: (story) => {
      story.end("a");
      story.trueMs += 1;
      story.acquire("a", 1);
      story.issue("a", 1);
    },
    broken: (story) => {
      story.end("a");
      story.trueMs += 1;
      story.issue("a", 1);
    },
  },
  {
    seen: "S8 where a mark is further ahead than window, lead and clock error",
    kept: (story) => story.acquire("b", 2, story.trueMs + windowMs),
    broken: (story) => story.acquire("b", 2, story.trueMs + 2 * windowMs),
  },
];

for (const { seen, kept, broken, besides = [] } of breaches) {
  test(`sees a breach of ${seen}`, () => {
    const [good, bad] = [new Story(), new Story()];
    for (const story of [good, bad]) {
      story.acquire("a", 1);
      story.issue("a", 1);
    }
    kept(good);
    expect(good.broken()).toEqual([]);
    broken(bad);
    expect(bad.broken().toSorted()).toEqual([seen.slice(0, 2), ...besides].toSorted());
  });
}
