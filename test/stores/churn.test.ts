import { expect, test } from "vitest";
import { remoteStoreKinds } from "../support/servers/remote-stores.ts";
import { after, churn } from "./churn.ts";

test.each(remoteStoreKinds)(
  "servers on $kind that are killed and replaced under load never repeat an ID",
  async ({ start }) => {
    const server = await start();
    try {
      const result = await churn(server.url, { isOver: after(4_000) });
      expect(result.duplicateCount).toBe(0);
      expect(result.killCount).toBeGreaterThan(0);
      expect(result.idCount).toBeGreaterThan(0);
    } finally {
      await server.stop();
    }
  },
);
