/**
 * What an ID costs a Node program: from the buffer, by the npm packages that people use, and by one RPC each. Prints
 * one line of JSON a figure: its source, its mode, and nanoseconds an ID.
 */
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { Snowflake as SapphireSnowflake } from "@sapphire/snowflake";
import { bench, do_not_optimize, run } from "mitata";
import { Snowflake as NodejsSnowflake } from "nodejs-snowflake";
import { createNodeClient } from "../../../clients/typescript/src/node.ts";
import { PrefetchBuffer } from "../../../clients/typescript/src/prefetch-buffer.ts";
import type { RunSource } from "../../../clients/typescript/src/run-source.ts";

/** flake-idgen brings no types. */
type FlakeIdGen = new (options: { id: number; seqMask?: number }) => { next(): Buffer };
const FlakeId = createRequire(import.meta.url)("flake-idgen") as FlakeIdGen;
const epochMs = 1_288_834_974_657;
/** Where IDs go: V8 does not make a bigint that nobody looks at. */
const ring: unknown[] = Array.from({ length: 1_024 });

/** Answers as a server does whose ceiling nobody reaches, after about as long as a call within a machine takes. */
function memorySource(): RunSource {
  let next = 1n << 60n;
  return {
    reserve: async (count) => {
      await sleep(1);
      const firstId = next;
      next += BigInt(count);
      return [{ firstId, count, stride: 1n }];
    },
  };
}

const buffer = new PrefetchBuffer(memorySource(), { countMax: 1 << 20 });

async function takeFromBuffer(count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const id = buffer.nextId();
    ring[index & 1_023] = typeof id === "bigint" ? id : await id;
  }
}

async function awaitFromBuffer(count: number): Promise<void> {
  for (let index = 0; index < count; index++) ring[index & 1_023] = await buffer.nextId();
}

/** Many tasks at once, on the one thread that there is. */
const tasks = 64;
async function inTasks(count: number, take: (count: number) => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: tasks }, () => take(count / tasks)));
}

function takeFrom(next: () => unknown): (count: number) => void {
  return (count) => {
    for (let index = 0; index < count; index++) ring[index & 1_023] = next();
  };
}

/** flake-idgen throws until the next millisecond. */
function nextOf(flake: { next(): Buffer }): () => unknown {
  return () => {
    for (;;) {
      try {
        return flake.next();
      } catch {}
    }
  };
}

const sapphire = new SapphireSnowflake(epochMs);
const nodejs = new NodejsSnowflake({ custom_epoch: epochMs, instance_id: 1 });
const client = createNodeClient({ endpoints: [process.env["SNOWLANE_URL"] ?? ""], timeoutMs: 60_000 });

interface Figure {
  readonly source: string;
  readonly mode: string;
  /** IDs that one run of `work` takes. */
  readonly count: number;
  readonly work: (count: number) => void | Promise<void>;
}

const figures: readonly Figure[] = [
  { source: "buffer", mode: "1 task", count: 200_000, work: takeFromBuffer },
  { source: "buffer", mode: "64 tasks", count: 192_000, work: (count) => inTasks(count, takeFromBuffer) },
  { source: "buffer-awaited", mode: "1 task", count: 100_000, work: awaitFromBuffer },
  { source: "buffer-awaited", mode: "64 tasks", count: 96_000, work: (count) => inTasks(count, awaitFromBuffer) },
  {
    source: "flake-idgen-lifted",
    mode: "1 task",
    count: 100_000,
    work: takeFrom(nextOf(new FlakeId({ id: 0, seqMask: 0x3f_ffff }))),
  },
  { source: "flake-idgen-shipped", mode: "1 task", count: 50_000, work: takeFrom(nextOf(new FlakeId({ id: 0 }))) },
  { source: "nodejs-snowflake-shipped", mode: "1 task", count: 20_000, work: takeFrom(() => nodejs.getUniqueID()) },
  { source: "sapphire", mode: "1 task", count: 100_000, work: takeFrom(() => sapphire.generate()) },
  {
    source: "rpc",
    mode: "1 task",
    count: 100,
    work: async (count) => {
      for (let index = 0; index < count; index++) ring[index & 1_023] = await client.nextId();
    },
  },
  {
    source: "rpc",
    mode: "64 tasks",
    count: 640,
    work: (count) =>
      inTasks(count, async (share) => {
        for (let index = 0; index < share; index++) ring[index & 1_023] = await client.nextId();
      }),
  },
  {
    source: "stock-array",
    mode: "",
    count: 200_000,
    work: async (count) => {
      for (let left = count; left > 0; left -= 10_000) do_not_optimize(await buffer.nextIds(10_000));
    },
  },
  {
    source: "server-array",
    mode: "",
    count: 100_000,
    work: async (count) => do_not_optimize(await client.nextIds(count)),
  },
  {
    source: "server-stream",
    mode: "",
    count: 500_000,
    work: async (count) => {
      for await (const ids of client.stream(count)) do_not_optimize(ids);
    },
  },
];

for (const [index, { count, work }] of figures.entries()) bench(`${index}`, () => work(count));
const { benchmarks } = await run({ format: "quiet", throw: true });
for (const { alias, runs } of benchmarks) {
  const { source, mode, count } = figures[Number(alias)]!;
  // Of many runs the quickest: what else a machine does only ever adds.
  const ns = (runs[0]?.stats?.min ?? Number.NaN) / count;
  console.log(JSON.stringify({ source, mode, ns }));
}
buffer.close();
client.close();
