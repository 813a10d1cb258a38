/** Measures the cost of one ID in process: ours beside the npm packages that people use. */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Snowflake as SapphireSnowflake } from "@sapphire/snowflake";
import { Snowflake as NodejsSnowflake } from "nodejs-snowflake";
import { systemClock } from "../../src/clock/clock.ts";
import { openSnowlane } from "../../src/library/open-snowlane.ts";
import { Snowflake } from "../../src/library/snowflake.ts";
import type { Snowlane } from "../../src/library/snowlane.ts";
import { SnowflakeGenerator } from "../../src/snowflake/generator.ts";
import { createLayout, type Layout } from "../../src/snowflake/layout.ts";
import { layouts } from "../../src/snowflake/presets.ts";
import { writeRun } from "../../src/snowflake/run.ts";
import type { Benchmark, Finding } from "./benchmark.ts";
import { interleave, median } from "./interleave.ts";
import { formatFigure } from "./report.ts";

/** flake-idgen brings no types. */
type FlakeIdGen = new (options: { id: number; seqMask?: number }) => { next(): Buffer };
const FlakeId = createRequire(import.meta.url)("flake-idgen") as FlakeIdGen;

const idCount = 1_000_000;
const rounds = 15;
/** A round goes on for as long at least: a thread's processor time comes in steps of up to 10 ms. */
const roundMs = 250;
/** Every result is stored: V8 drops the making of a bigint that nobody looks at. */
const stored: unknown[] = Array.from({ length: idCount });

interface Source {
  readonly name: string;
  readonly isOurs: boolean;
  /** Stores `count` IDs in {@link stored}. One loop for each source, so that none is slowed by the calls of another. */
  readonly fill: (count: number) => void;
  /** How to read a stored ID as a number; absent for what is no 64-bit ID. */
  readonly read?: (value: unknown) => bigint;
}

/** All of the 22 lower bits are sequence: 4,194,304 IDs a millisecond, which no process reaches. */
const unbounded = createLayout({
  ...layouts.twitter,
  name: "custom",
  fields: [
    { kind: "timestamp", bits: 41 },
    { kind: "sequence", bits: 22 },
  ],
});

function grantedGenerator(layout: Layout): SnowflakeGenerator {
  const generator = new SnowflakeGenerator({ layout, random: Math.random });
  const nowMs = Date.now();
  generator.grant({ datacenterId: 0, workerId: 0, fromMs: nowMs, untilMs: nowMs + 86_400_000 }, nowMs);
  return generator;
}

function monotonicMs(): number {
  return systemClock.monotonicMs();
}

function ourSource(name: string, layout: Layout): Source {
  const generator = grantedGenerator(layout);
  const fill = (count: number): void => {
    for (let index = 0; index < count; ) {
      const id = generator.tryNext(systemClock.nowMs(), monotonicMs);
      if (id !== undefined) stored[index++] = id;
    }
  };
  return { name, isOurs: true, fill, read: (value) => value as bigint };
}

/** Worker IDs by hand, as a program uses them. A process makes each once, so the sources have a worker ID each. */
function byHandSource(name: string, layout: Layout, workerId: number): Source {
  const ids = new Snowflake({ layout, workerId });
  const fill = (count: number): void => {
    for (let index = 0; index < count; index++) stored[index] = ids.next();
  };
  return { name, isOurs: true, fill, read: (value) => value as bigint };
}

/** The library, as a program uses it that does not wait. */
function librarySource(name: string, ids: Snowlane): Source {
  const fill = (count: number): void => {
    for (let index = 0; index < count; ) {
      const id = ids.nextId();
      if (typeof id !== "bigint") throw new Error("the library made a caller wait, which this measures nothing of");
      stored[index++] = id;
    }
  };
  return { name, isOurs: true, fill, read: (value) => value as bigint };
}

/** Runs of 4,096 written as halves: what a batch of IDs costs that leaves as bytes. */
function ourRuns(): Source {
  const generator = grantedGenerator(unbounded);
  const halves = new Uint32Array(idCount * 2);
  const fill = (count: number): void => {
    let at = 0;
    while (at < count * 2) {
      const answer = generator.reserve(Math.min(4_096, count - at / 2), systemClock.nowMs(), "bulk", monotonicMs);
      if (answer.kind !== "runs") continue;
      for (const run of answer.runs) at = writeRun(run, halves, at);
    }
  };
  return { name: "Snowlane, reserve and writeRun", isOurs: true, fill };
}

function flakeSource(name: string, options: { id: number; seqMask?: number }): Source {
  const flake = new FlakeId(options);
  const fill = (count: number): void => {
    for (let index = 0; index < count; ) {
      try {
        stored[index] = flake.next();
        index++;
      } catch {
        // It throws until the next millisecond.
      }
    }
  };
  return { name, isOurs: false, fill, read: (value) => (value as Buffer).readBigUInt64BE() };
}

function nodejsSource(name: string, readClock: () => number): Source {
  const snowflake = new NodejsSnowflake({ custom_epoch: layouts.twitter.epochMs, instance_id: 1 });
  const fill = (count: number): void => {
    const { now } = Date;
    Date.now = readClock;
    try {
      for (let index = 0; index < count; index++) stored[index] = snowflake.getUniqueID();
    } finally {
      Date.now = now;
    }
  };
  return { name, isOurs: false, fill, read: (value) => value as bigint };
}

/**
 * A clock that a generator of 1,024 IDs a millisecond never has to wait for. It reads the real one too, so that it
 * costs as much.
 */
function fastClock(): () => number {
  const { now } = Date;
  const startMs = now();
  let reads = 0;
  return () => {
    const sinceMs = now() - startMs;
    return startMs + Math.floor(++reads / 1_000) + (sinceMs < 0 ? 1 : 0);
  };
}

const sapphire = new SapphireSnowflake(layouts.twitter.epochMs);
const sapphireSource: Source = {
  name: "@sapphire/snowflake",
  isOurs: false,
  fill: (count) => {
    for (let index = 0; index < count; index++) stored[index] = sapphire.generate();
  },
  read: (value) => value as bigint,
};

const uuidSource: Source = {
  name: "crypto.randomUUID",
  isOurs: false,
  fill: (count) => {
    for (let index = 0; index < count; index++) stored[index] = randomUUID();
  },
};

const clockSource: Source = {
  name: "Date.now alone",
  isOurs: false,
  fill: (count) => {
    for (let index = 0; index < count; index++) stored[index] = Date.now();
  },
};

/** How many of the IDs just stored had been there before. */
function countRepeats(source: Source): string {
  if (source.read === undefined) return "–";
  source.fill(idCount);
  const ids = new BigUint64Array(idCount);
  for (let index = 0; index < idCount; index++) ids[index] = source.read(stored[index]);
  ids.sort();
  let repeats = 0;
  for (let index = 1; index < idCount; index++) if (ids[index] === ids[index - 1]) repeats++;
  return repeats.toLocaleString("en-US");
}

/** Time of this thread in microseconds: on the processor, or as it passes. */
const timers = {
  processor: (): number => {
    const { user, system } = process.threadCpuUsage();
    return user + system;
  },
  elapsed: (): number => performance.now() * 1_000,
} as const;

async function compare(
  title: string,
  timer: keyof typeof timers,
  sources: readonly Source[],
  log: (line: string) => void,
): Promise<Finding> {
  const contestants = sources.map((source) => ({
    name: source.name,
    run: async (): Promise<number> => {
      // The library renews its worker ID between two turns.
      await nextTurn();
      const startUs = timers[timer]();
      const endMs = performance.now() + roundMs;
      let count = 0;
      do {
        source.fill(idCount);
        count += idCount;
      } while (performance.now() < endMs);
      return ((timers[timer]() - startUs) * 1_000) / count;
    },
  }));
  const results = await interleave(contestants, rounds, log);
  const rows = sources.map((source) => {
    const values = results.get(source.name) ?? [];
    return { source, best: Math.min(...values), middle: median(values), repeats: countRepeats(source) };
  });
  return {
    title,
    columns: ["source", "ns an ID, best round", "median round", `repeats in ${idCount.toLocaleString("en-US")}`],
    rows: rows.map(({ source, best, middle, repeats }) => [
      source.name,
      formatFigure(best),
      formatFigure(middle),
      repeats,
    ]),
    chart: {
      unit: "ns",
      bars: rows.map(({ source, best }) => ({ label: source.name, value: best, isOurs: source.isOurs })),
    },
  };
}

/** `next()` in process. */
export const generatorBenchmark: Benchmark = {
  name: "generator",
  title: "The generator in process",
  about: [
    `One thread makes at least ${idCount.toLocaleString("en-US")} IDs, for at least ${roundMs} ms a round, and stores`,
    `every ID. The sources take turns in ${rounds} rounds. Each source reads the real clock for each ID. Ours return`,
    "a bigint, as do nodejs-snowflake and @sapphire/snowflake; flake-idgen returns a Buffer.",
    "",
    "As shipped, a layout's ceiling is part of the figure, however cheap the code is: 4,096 IDs a millisecond are 244",
    "ns an ID, 1,024 are 977. With the ceiling lifted, only the code is measured, in processor time, which other work",
    "on the machine disturbs least. Ours and flake-idgen get 22 bits of sequence; nodejs-snowflake has no such",
    "setting and gets a clock that runs ahead. @sapphire/snowflake has no ceiling: its counter wraps within a",
    "millisecond, and it **repeats IDs**. It is listed because it is used.",
  ].join("\n"),
  packages: ["flake-idgen", "nodejs-snowflake", "@sapphire/snowflake"],
  run: async (log) => [await compareCode(log), await compareAsShipped(log)],
};

async function compareCode(log: (line: string) => void): Promise<Finding> {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-bench-generator-"));
  try {
    await using library = await openSnowlane({ store: `sqlite:${join(folder, "ids.db")}`, layout: unbounded });
    const sources = [
      ourSource("Snowlane, next", unbounded),
      librarySource("Snowlane, openSnowlane", library),
      byHandSource("Snowlane, Snowflake", unbounded, 0),
      ourRuns(),
      flakeSource("flake-idgen", { id: 0, seqMask: 0x3f_ffff }),
      nodejsSource("nodejs-snowflake, clock runs ahead", fastClock()),
      sapphireSource,
      uuidSource,
      clockSource,
    ];
    return await compare("Ceiling lifted, processor time", "processor", sources, log);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function compareAsShipped(log: (line: string) => void): Promise<Finding> {
  const sources = [
    ourSource("Snowlane, layout twitter", layouts.twitter),
    byHandSource("Snowlane, Snowflake, layout twitter", layouts.twitter, 1),
    flakeSource("flake-idgen", { id: 0 }),
    nodejsSource("nodejs-snowflake", Date.now),
    sapphireSource,
  ];
  return compare("As shipped, elapsed time", "elapsed", sources, log);
}
