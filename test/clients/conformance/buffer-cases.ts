/** Cases of buffers: which IDs they hand out, how old those are, and what they make of bad answers. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Case } from "./case.ts";
import { handlersOf } from "./fault-server.ts";
import type { Keys } from "./program-under-test.ts";
import {
  type Client,
  hold,
  holdDistinct,
  holdInTime,
  holdNoFailure,
  patience,
  type Taken,
  type World,
} from "./world.ts";

/** The age below which this many of a hundred IDs are. */
function percentile(taken: readonly Taken[], percent: number): number {
  const ages = taken.map(({ ageMs }) => ageMs).toSorted((a, b) => a - b);
  return ages[Math.floor((ages.length * percent) / 100)] ?? 0;
}

const badRuns = [
  ["no run", []],
  ["a run of no ID", [{ firstId: 5n, count: 0, stride: 1n }]],
  ["a stride of 0", [{ firstId: 5n, count: 2, stride: 0n }]],
  ["the ID 0", [{ firstId: 0n, count: 2, stride: 1n }]],
  ["an ID above 2^63", [{ firstId: 2n ** 63n - 1n, count: 2, stride: 1n }]],
  ["more than was asked for", [{ firstId: 5n, count: 2_000_000, stride: 1n }]],
  [
    "two runs that overlap",
    [
      { firstId: 5n, count: 4, stride: 1n },
      { firstId: 8n, count: 4, stride: 1n },
    ],
  ],
] as const;

/** What a runtime that compiles as it goes needs on a busy machine, until its calls are not late by themselves. */
const warmUpSeconds = 10;

/** A busy machine makes single windows late, and never all of them; a buffer that hands out old IDs does so in each. */
const windowsMax = 4;

/** IDs a second that a buffer hands out, to see their age. */
const evenRate = 200;

/**
 * By how much the machine delayed calls at an even rate: the latest one against the most punctual one, without the
 * longest wait in a call, which is the client's own.
 */
function latenessMs({ taken, waitMaxMs }: Awaited<ReturnType<Client["take"]>>): number {
  const offsets = taken.map(({ atMs }, index) => atMs - (index * 1_000) / evenRate).toSorted((a, b) => a - b);
  return Math.max(0, (offsets.at(-1) ?? 0) - (offsets[0] ?? 0) - waitMaxMs);
}

/** The low-water mark lasts for at least this many round trips, by rule 3 of buffers. */
const roundTripsOfStock = 8;

/** How long the same machine and server let a call of a client without a buffer wait, on average. */
async function meanRoundTripMs(plain: Client): Promise<number> {
  const results = await plain.call(10);
  return results.reduce((sum, { durationMs }) => sum + durationMs, 0) / results.length;
}

/** Holds a buffer to fresh IDs, after it has run for a while. */
async function holdFresh(world: World, keys: Keys): Promise<void> {
  const { url } = await world.server();
  const [client, plain] = [await world.open([url], { buffer: 1, ...keys }), await world.open([url], patience)];
  await client.take(evenRate, warmUpSeconds);
  const windows: string[] = [];
  for (let window = 0; window < windowsMax; window++) {
    const before = await meanRoundTripMs(plain);
    const result = await client.take(evenRate, 6);
    holdNoFailure(result);
    holdDistinct(result.taken);
    const tripMs = Math.max(before, await meanRoundTripMs(plain));
    const [p99Ms, lateMs] = [percentile(result.taken, 99), latenessMs(result)];
    // A pause ages the stock, and the calls that make up for it count as a higher rate, whose answer lasts longer.
    if (p99Ms <= 1_300 + 2 * lateMs + roundTripsOfStock * tripMs) return;
    windows.push(
      `${p99Ms} ms, with calls up to ${Math.round(lateMs)} ms late and round trips of ${tripMs.toFixed(1)} ms`,
    );
  }
  holdInTime(false, `the p99 of the age in windows of 6 s is ${windows.join("; ")}`);
}

export const bufferCases: readonly Case[] = [
  {
    rule: "buffer 2",
    name: "fresh",
    law: "With servers that are well, the p99 of an ID's age is at most 1.3 s.",
    isNeeded: true,
    run: (world) => holdFresh(world, {}),
  },
  {
    rule: "buffer 2",
    name: "fresh-first",
    law: "With servers that are well, the p99 of an ID's age is at most 1.3 s, also with a stock for an outage.",
    isNeeded: false,
    run: (world) => holdFresh(world, { outage_ms: 20_000 }),
  },
  {
    rule: "buffer 4",
    name: "even-rate",
    law: "At an even rate a buffer reserves little more than it hands out.",
    isNeeded: true,
    run: async (world) => {
      const server = await world.server();
      const client = await world.open([server.url], { buffer: 1 });
      const { taken } = await client.take(200, 8);
      holdDistinct(taken);
      const { reserved, handedOut } = await client.stats();
      holdInTime(reserved <= 1.5 * handedOut, `${reserved} IDs were reserved for ${handedOut} that were handed out`);
    },
  },
  {
    rule: "buffer 5",
    name: "suspend",
    law: "After the process stood still for longer than maxAge, at most 63 IDs older than that are handed out.",
    isNeeded: true,
    run: async (world) => {
      const server = await world.server();
      const client = await world.open([server.url], { buffer: 1, max_age_ms: 1_500 });
      await client.take(200, 2);
      const taking = client.take(200, 7);
      await sleep(1_500);
      await world.program.pause(4_000);
      const { taken } = await taking;
      holdInTime(taken.length > 300, `only ${taken.length} IDs came`);
      const old = taken.filter(({ ageMs }) => ageMs > 1_600);
      hold(
        old.length <= 63,
        `${old.length} IDs were older than maxAge, one by ${Math.max(...old.map((o) => o.ageMs))} ms`,
      );
    },
  },
  {
    rule: "buffer 5",
    name: "stepped-clock",
    law: "A step of the wall clock by two minutes, as the servers go away, empties no reserve.",
    isNeeded: false,
    run: async (world) => {
      const server = await world.server();
      const client = await world.open([server.url], { buffer: 1, outage_ms: 20_000 });
      holdNoFailure(await client.take(200, 12));
      await client.stepClock(120_000);
      await server.kill();
      const result = await client.take(200, 5);
      holdNoFailure(result);
      holdDistinct(result.taken);
    },
  },
  {
    rule: "buffer 8",
    name: "invalid-answers",
    law: "An answer that cannot be is INVALID_RESPONSE, and none of its IDs is handed out.",
    isNeeded: true,
    run: async (world) => {
      const server = await world.server();
      for (const [what, runs] of badRuns) {
        server.handlers = { ...handlersOf(1), reserveIds: () => ({ runs: [...runs], deployment: 1 }) };
        const client = await world.open([server.url], { buffer: 1, timeout_ms: 1_000 });
        const [result] = await client.call();
        holdInTime(result?.reason !== "DEADLINE_EXCEEDED", `an answer with ${what} gave ${result?.text}`);
        hold(result?.reason === "INVALID_RESPONSE", `an answer with ${what} gave ${result?.text ?? result?.id}`);
      }
    },
  },
  {
    rule: "buffer 9",
    name: "restart",
    law: "A server that is away for 2 s fails no call, and no ID comes twice.",
    isNeeded: true,
    run: async (world) => {
      const server = await world.server();
      const client = await world.open([server.url], { buffer: 1 });
      await client.take(200, 2);
      const taking = client.take(200, 7);
      await sleep(500);
      await server.kill();
      await sleep(2_000);
      await server.start();
      const result = await taking;
      holdNoFailure(result);
      holdDistinct(result.taken);
    },
  },
];
