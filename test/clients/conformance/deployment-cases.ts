/** Cases of two deployments under one list of endpoints, whose IDs can be equal. */
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Case } from "./case.ts";
import { fingerprintOf, handlersOf } from "./fault-server.ts";
import type { Keys, ProgramUnderTest } from "./program-under-test.ts";
import { type CallResult, hold, holdAnswered, holdInTime, patience, type World } from "./world.ts";

/** A client that waits for half a second for servers to say what they are may be too early for a busy machine. */
const roundMax = 5;

/** Calls by new clients, one after the other, until all calls of one are refused: then it has met all servers. */
async function callUntilRefused(
  world: World,
  urls: readonly string[],
  { count, ...keys }: Keys,
  program?: ProgramUnderTest,
): Promise<readonly CallResult[]> {
  for (let round = 1; ; round++) {
    const results = await (await world.open(urls, keys, program)).call(Number(count));
    if (round === roundMax || results.every(({ reason }) => reason === "DEPLOYMENT_MISMATCH")) return results;
  }
}

export const deploymentCases: readonly Case[] = [
  {
    rule: "attempts 14",
    name: "two-deployments",
    law: "A list that mixes two deployments gives no ID: each process says DEPLOYMENT_MISMATCH, with both endpoints.",
    isNeeded: true,
    run: async (world) => {
      const urls = [(await world.server(1)).url, (await world.server(2)).url];
      for (const keys of [{}, { buffer: 1 }]) {
        const [result] = await callUntilRefused(world, urls, { ...keys, count: 1 });
        holdInTime(result?.reason === "DEPLOYMENT_MISMATCH", `the call gave ${result?.text ?? `the ID ${result?.id}`}`);
        hold(
          urls.every((url) => result.text?.includes(url) === true),
          `the error does not name both endpoints: ${result.text}`,
        );
      }
    },
  },
  {
    rule: "attempts 14",
    name: "another-deployment-later",
    law: "A server that becomes another deployment's is refused, whole answers at a time.",
    isNeeded: true,
    run: async (world) => {
      const server = await world.server(1);
      const client = await world.open([server.url], patience);
      const [first] = await client.call();
      holdAnswered(first, "the first call failed");
      server.handlers = handlersOf(2);
      const [second] = await client.call();
      hold(second?.reason === "DEPLOYMENT_MISMATCH", `the call gave ${second?.text ?? `the ID ${second?.id}`}`);
    },
  },
  {
    rule: "attempts 14",
    name: "one-deployment",
    law: "Servers of one deployment, and servers that do not tell theirs, are used as before.",
    isNeeded: true,
    run: async (world) => {
      for (const deployments of [
        [7, 7],
        [0, 0],
        [0, 7],
      ]) {
        const servers = await Promise.all(deployments.map((deployment) => world.server(deployment)));
        const urls = servers.map(({ url }) => url);
        const [result] = await (await world.open(urls, patience)).call();
        holdAnswered(result);
      }
    },
  },
  {
    rule: "attempts 14",
    name: "six-processes",
    law: "Of six processes over a list that mixes two deployments none gets an ID: each ends with DEPLOYMENT_MISMATCH.",
    isNeeded: true,
    run: async (world) => {
      const urls = [(await world.server(1)).url, (await world.server(2)).url];
      const programs = [world.program, ...Array.from({ length: 5 }, () => world.startProgram())];
      await Promise.all(programs.slice(1).map((program) => world.warmUp(program)));
      const results = await Promise.all(
        programs.map((program, index) =>
          callUntilRefused(
            world,
            index % 2 === 0 ? urls : urls.toReversed(),
            { buffer: index % 2, count: 20 },
            program,
          ),
        ),
      );
      for (const { reason, id, text } of results.flat())
        holdInTime(reason === "DEPLOYMENT_MISMATCH", `a call gave ${text ?? `the ID ${id}`}`);
    },
  },
  {
    rule: "attempts 14",
    name: "two-regions",
    law: "Two deployments of one layout that are bound to different worker IDs are used as one.",
    isNeeded: false,
    run: async (world) => {
      const servers = [await world.server(1), await world.server(2)];
      const layout = { fields: [], epochTime: timestampFromMs(0) };
      for (const [index, server] of servers.entries()) {
        server.handlers = {
          ...handlersOf(index + 1),
          getInfo: () => ({
            deploymentFingerprint: fingerprintOf(index + 1),
            layout,
            binding: { datacenterIds: [index] },
          }),
        };
      }
      const urls = servers.map(({ url }) => url);
      const client = await world.open(urls, patience);
      for (const server of servers) {
        const [result] = await client.call();
        holdAnswered(result);
        await server.kill();
        const [other] = await client.call();
        holdAnswered(other, "the call failed after one region was lost");
        await server.start();
      }
    },
  },
];
