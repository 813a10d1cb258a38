/** Cases of dark connections, which are open and answer nothing. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Case } from "./case.ts";
import { lateHandlers } from "./fault-server.ts";
import { callInTheDark, type DarkKind, type DarkOutcome, takeInTheDark } from "./dark.ts";
import { holdAnswered, holdInTime, holdNoFailure } from "./world.ts";

const urlOf = ({ port }: { readonly port: number }): string => `http://127.0.0.1:${port}`;

const darkLaws: Readonly<Record<DarkKind, { readonly name: string; readonly what: string }>> = {
  swallowed: { name: "dark", what: "A connection that a proxy swallows" },
  frozen: { name: "frozen", what: "A server that freezes behind a balancer" },
  dropped: { name: "dropped", what: "A network that drops every packet of a connection" },
};
const darkKindNames = Object.keys(darkLaws) as readonly DarkKind[];

/** A single call that meets a dark connection takes at most so long. */
const darkCallMsMax = 5_000;
/** A buffer has IDs again within this time. */
const darkBufferMsMax = 2_000;

function holdOutcome({ failures, waitMaxMs, reasons }: DarkOutcome, msMax: number): void {
  holdInTime(failures === 0, `${failures} calls failed: ${reasons.join(", ")}`);
  holdInTime(waitMaxMs < msMax, `a caller waited for ${Math.round(waitMaxMs)} ms`);
}

export const darkCases: readonly Case[] = [
  ...darkKindNames.map((kind): Case => {
    const { name, what } = darkLaws[kind];
    return {
      rule: "attempts 12",
      name: `${name}-calls`,
      law: `${what} fails no call: the next attempt takes a new connection.`,
      isNeeded: true,
      run: async (world) => holdOutcome(await callInTheDark(world, kind), darkCallMsMax),
    };
  }),
  {
    rule: "attempts 12",
    name: "dark-short-deadlines",
    law: "Callers with deadlines of 1 s get IDs again within 5 s after their connection is swallowed.",
    isNeeded: true,
    run: async (world) => {
      const link = await world.link(await world.server());
      const client = await world.open([urlOf(link)], { timeout_ms: 1_000 });
      await client.call(3);
      link.swallow();
      const results = await client.call(5);
      holdAnswered(results.at(-1), "five calls of 1 s in a row failed");
    },
  },
  {
    rule: "attempts 12",
    name: "slow-server",
    law: "A server that takes a second for each answer is slow, not dark: it gets few connections.",
    isNeeded: true,
    run: async (world) => {
      const server = await world.server();
      const link = await world.link(server);
      server.handlers = lateHandlers(() => sleep(1_000));
      const results = await (await world.open([urlOf(link)])).call(4);
      for (const result of results) holdAnswered(result, "a call failed");
      holdInTime(link.acceptedCount <= 3, `4 calls opened ${link.acceptedCount} connections`);
    },
  },
  {
    rule: "attempts 12",
    name: "late-after-restart",
    law: "A server that is late by 3 s after its restart gets one connection of a client: the new one is left alone.",
    isNeeded: false,
    run: async (world) => {
      const server = await world.server();
      const client = await world.open([server.url], { buffer: 1, timeout_ms: 20_000 });
      const taking = client.take(100, 10);
      await sleep(1_000);
      await server.kill();
      // The client finds that it is gone.
      await sleep(1_000);
      let late: Promise<void> | undefined;
      server.handlers = lateHandlers(() => (late ??= sleep(3_000)));
      const before = server.acceptedCount;
      await server.start();
      holdNoFailure(await taking);
      const opened = server.acceptedCount - before;
      holdInTime(opened === 1, `the client opened ${opened} connections`);
    },
  },
  ...darkKindNames.map((kind): Case => {
    const { name, what } = darkLaws[kind];
    return {
      rule: "attempts 13",
      name: `${name}-buffer`,
      law: `${what} fails no call of a buffer, which has IDs again within 2 s.`,
      isNeeded: true,
      run: async (world) => holdOutcome(await takeInTheDark(world, kind), darkBufferMsMax),
    };
  }),
  {
    rule: "attempts 13",
    name: "slow-buffer",
    law: "A server that takes 0.4 s for each answer is asked little more than it must be, over few connections.",
    isNeeded: true,
    run: async (world) => {
      const server = await world.server();
      const link = await world.link(server);
      let asked = 0;
      server.handlers = lateHandlers((count) => {
        asked += count;
        return sleep(400);
      });
      const client = await world.open([urlOf(link)], { buffer: 1 });
      holdNoFailure(await client.take(200, 9));
      const { reserved } = await client.stats();
      // A busy machine makes single answers late by more than a round trip, which are asked for twice.
      holdInTime(asked <= 1.5 * reserved, `${asked} IDs were asked for, of which ${reserved} came into stock`);
      holdInTime(link.acceptedCount <= 3, `the buffer opened ${link.acceptedCount} connections`);
    },
  },
  {
    rule: "attempts 13",
    name: "one-of-three-frozen",
    law: "Of three endpoints one freezes, and no caller of a buffer with stock waits for a quarter of a second.",
    isNeeded: true,
    run: async (world) => {
      const links = [await world.link(await world.server()), await world.link(await world.server())];
      links.push(await world.link(await world.server()));
      const client = await world.open(links.map(urlOf), { buffer: 1 });
      await client.take(200, 3);
      // Each in turn: it is the client's secret which one it uses.
      for (const link of links) {
        // What callers wait for on a busy machine, while no server is frozen.
        const { waitMaxMs: usualMs } = await client.take(200, 2);
        link.mode = "black-hole";
        const result = await client.take(200, 4);
        link.reopen();
        holdNoFailure(result);
        const waitMs = Math.round(result.waitMaxMs);
        holdInTime(waitMs < Math.max(250, 2 * usualMs), `a caller waited for ${waitMs} ms`);
      }
    },
  },
];
