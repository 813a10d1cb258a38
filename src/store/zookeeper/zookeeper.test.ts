import { afterAll, beforeAll } from "vitest";
import { describeRecordStoreContract } from "../../../test/contract/record-store-contract.ts";
import type { TestServer } from "../../../test/support/servers/test-server.ts";
import { startZooKeeper } from "../../../test/support/servers/zookeeper-server.ts";
import { openZooKeeperStore } from "./zookeeper.ts";

let server: TestServer;
let fixtures = 0;
beforeAll(async () => {
  server = await startZooKeeper();
});
afterAll(async () => {
  await server.stop();
});

describeRecordStoreContract("ZooKeeper", async () => {
  fixtures += 1;
  const prefix = `f${fixtures}-`;
  return {
    open: (namespace = "default") =>
      openZooKeeperStore(server.url, { namespace: prefix + namespace, callTimeoutMs: 30_000 }),
    dispose: async () => {},
  };
});
