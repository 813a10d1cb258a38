import { expect, test } from "vitest";
import { remoteStoreKinds } from "../support/servers/remote-stores.ts";
import { churn } from "./churn.ts";

const killsMin = 4;

test.each(remoteStoreKinds)(
  "servers on $kind that are killed and replaced under load never repeat an ID",
  async ({ start }) => {
    const server = await start();
    try {
      const result = await churn(server.url, { isOver: ({ killCount }) => killCount >= killsMin });
      expect(result.duplicateCount).toBe(0);
      expect(result.idCount).toBeGreaterThan(0);
    } finally {
      await server.stop();
    }
  },
);
