/** Cases of dark connections, which stand and answer nothing. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Case } from "./case.ts";
import { handlersOf } from "./fault-server.ts";
import { hold, holdDistinct, holdNoFailure } from "./world.ts";

const urlOf = ({ port }: { readonly port: number }): string => `http://127.0.0.1:${port}`;

export const darkCases: readonly Case[] = [
  {
    rule: "attempts 12",
    name: "dark-calls",
    law: "A connection that a proxy swallows fails no call: the next attempt takes a new one.",
    isNeeded: true,
    run: async (world) => {
      const link = await world.link(await world.server());
      const client = await world.open([urlOf(link)]);
      await client.call(3);
      link.swallow();
      const results = await client.call(3);
      for (const { id, text, durationMs } of results) {
        hold(id !== undefined, `a call failed: ${text}`);
        hold(durationMs < 5_000, `a call took ${Math.round(durationMs)} ms`);
      }
    },
  },
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
      hold(results.at(-1)?.id !== undefined, "five calls of 1 s in a row failed");
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
      const plain = handlersOf(1);
      server.handlers = {
        ...plain,
        nextId: async (request, context) => {
          await sleep(1_000);
          return plain.nextId!(request, context);
        },
      };
      const results = await (await world.open([urlOf(link)])).call(4);
      hold(
        results.every(({ id }) => id !== undefined),
        "a call failed",
      );
      hold(link.acceptedCount <= 3, `4 calls opened ${link.acceptedCount} connections`);
    },
  },
  {
    rule: "attempts 13",
    name: "dark-buffer",
    law: "A buffer whose connection is swallowed fails no call, and has IDs again within 2 s.",
    isNeeded: true,
    run: async (world) => {
      const link = await world.link(await world.server());
      const client = await world.open([urlOf(link)], { buffer: 1 });
      await client.take(200, 2);
      link.swallow();
      const result = await client.take(200, 6);
      holdNoFailure(result);
      holdDistinct(result.taken);
      hold(result.waitMaxMs < 2_000, `a caller waited for ${Math.round(result.waitMaxMs)} ms`);
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
        link.mode = "black-hole";
        const result = await client.take(200, 4);
        link.reopen();
        holdNoFailure(result);
        hold(result.waitMaxMs < 250, `a caller waited for ${Math.round(result.waitMaxMs)} ms`);
      }
    },
  },
];
