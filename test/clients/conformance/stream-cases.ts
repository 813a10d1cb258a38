/** Cases of streams of IDs: their chunks, and what a client makes of those that cannot be. */
import { Code } from "@connectrpc/connect";
import { once } from "node:events";
import { join } from "node:path";
import { chunkSizeMax } from "../../../src/service/hot/issue-ids.ts";
import { readIdFiles } from "../../support/processes/id-files.ts";
import { faultError } from "../../support/processes/scripted-id-server.ts";
import type { Case } from "./case.ts";
import { handlersOf, takeIds } from "./fault-server.ts";
import { hold, holdAnswered, holdNoFailure, patience, type TakeResult, type World } from "./world.ts";

type Issued = Pick<TakeResult, "count" | "failures" | "reasons">;

/** Lets one caller read `count` IDs by streams. */
async function readStreams(world: World, url: string, count: number): Promise<Issued & { readonly ids: Set<bigint> }> {
  const out = join(world.folder, "streams.ids");
  const keys = { endpoints: url, mode: "stream", count, callers: 1, out, timeout_ms: 60_000 };
  const result = await world.program.send<Issued>("issue", keys);
  return { ...result, ids: new Set(readIdFiles([out])) };
}

/** A chunk of IDs that rise. */
function chunkOf(count: number): { ids: bigint[]; readonly deployment: number } {
  const first = takeIds(count);
  return { ids: Array.from({ length: count }, (_, index) => first + BigInt(index)), deployment: 1 };
}

export const streamCases: readonly Case[] = [
  {
    rule: "attempts 16",
    name: "streams-apart",
    law: "Streams whose readers pause, 101 where a connection allows 100, hold up no call: they have connections of their own.",
    isNeeded: false,
    run: async (world) => {
      const server = await world.server();
      server.handlers = {
        ...handlersOf(1),
        async *batchNextIds(_, { signal }) {
          yield chunkOf(1);
          await once(signal, "abort");
        },
      };
      const client = await world.open([server.url], patience);
      await client.call();
      const before = server.acceptedCount;
      const streams = await client.openStreams(101);
      const opened = server.acceptedCount - before;
      hold(opened >= 2, `101 streams opened ${opened} connections beside that of the calls`);
      holdNoFailure(streams);
      for (const result of await client.call(3)) holdAnswered(result, "a call failed");
      await client.close();
    },
  },
  {
    rule: "streams 1",
    name: "large-chunks",
    law: "Chunks of 65,536 IDs, the most of a server, are read, and a stream that fails between two goes on by itself.",
    isNeeded: false,
    run: async (world) => {
      const server = await world.server();
      let isWhole = false;
      server.handlers = {
        ...handlersOf(1),
        async *batchNextIds({ count }) {
          for (let left = Number(count); left > 0; left -= chunkSizeMax) {
            yield chunkOf(Math.min(left, chunkSizeMax));
            if (isWhole) continue;
            isWhole = true;
            throw faultError({ reason: "STORE_UNAVAILABLE", code: Code.Unavailable });
          }
        },
      };
      const { ids, failures, reasons } = await readStreams(world, server.url, 100_000);
      holdNoFailure({ count: ids.size, failures, reasons });
      hold(ids.size === 100_000, `${ids.size} different IDs came instead of 100,000`);
    },
  },
  {
    rule: "checks 5",
    name: "invalid-chunks",
    law: "A stream whose IDs do not rise, or with more than was asked for, is INVALID_RESPONSE; none is handed out.",
    isNeeded: false,
    run: async (world) => {
      const server = await world.server();
      // From 1 to 3,000, which no fault server gives.
      const bad = [
        (count: number): bigint[] => Array.from({ length: count }, (_, index) => BigInt(count - index)),
        (count: number): bigint[] => Array.from({ length: count }, (_, index) => BigInt(index)),
        (count: number): bigint[] => Array.from({ length: 3 * count }, (_, index) => BigInt(index) + 1n),
      ];
      server.handlers = {
        ...handlersOf(1),
        async *batchNextIds({ count }) {
          const ids = bad.shift();
          yield ids === undefined ? chunkOf(Number(count)) : { ids: ids(Number(count)), deployment: 1 };
        },
      };
      const { ids, failures, reasons } = await readStreams(world, server.url, 1_000);
      hold(failures === 3 && reasons["INVALID_RESPONSE"] === 3, `the errors were ${JSON.stringify(reasons)}`);
      const found = [...ids].filter((id) => id < 10_000n);
      hold(found.length === 0, `the IDs ${found.slice(0, 3).join(", ")} of such a stream were handed out`);
    },
  },
];
