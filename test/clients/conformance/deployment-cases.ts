/** Cases of two deployments under one list of endpoints, whose IDs can be equal. */
import type { Case } from "./case.ts";
import { handlersOf } from "./fault-server.ts";
import { hold } from "./world.ts";

export const deploymentCases: readonly Case[] = [
  {
    rule: "attempts 14",
    name: "two-deployments",
    law: "A list that mixes two deployments gives no ID: each process says DEPLOYMENT_MISMATCH, with both endpoints.",
    isNeeded: true,
    run: async (world) => {
      const urls = [(await world.server(1)).url, (await world.server(2)).url];
      for (const keys of [{}, { buffer: 1 }]) {
        const [result] = await (await world.open(urls, keys)).call();
        hold(result?.reason === "DEPLOYMENT_MISMATCH", `the call gave ${result?.text ?? `the ID ${result?.id}`}`);
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
      const client = await world.open([server.url]);
      const [first] = await client.call();
      hold(first?.id !== undefined, `the first call failed: ${first?.text}`);
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
        const [result] = await (await world.open(servers.map(({ url }) => url))).call();
        hold(result?.id !== undefined, `the call failed: ${result?.text}`);
      }
    },
  },
];
