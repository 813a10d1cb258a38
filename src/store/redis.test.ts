import { afterAll, beforeAll } from "vitest";
import { describeRecordStoreContract } from "../../test/contract/record-store-contract.ts";
import { startRedis } from "../../test/support/servers/redis-server.ts";
import type { TestServer } from "../../test/support/servers/test-server.ts";
import { openRedisStore } from "./redis.ts";

let server: TestServer;
let fixtures = 0;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(async () => {
  await server.stop();
});

describeRecordStoreContract("Redis", async () => {
  fixtures += 1;
  const prefix = `f${fixtures}-`;
  return {
    open: (namespace = "default") =>
      openRedisStore(server.url, { namespace: prefix + namespace, callTimeoutMs: 30_000 }),
    dispose: async () => {},
  };
});
