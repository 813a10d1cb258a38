import { afterAll, beforeAll } from "vitest";
import { describeRecordStoreContract } from "../../test/contract/record-store-contract.ts";
import { startEtcd } from "../../test/support/servers/etcd-server.ts";
import type { TestServer } from "../../test/support/servers/test-server.ts";
import { openEtcdStore } from "./etcd.ts";

let server: TestServer;
let fixtures = 0;
beforeAll(async () => {
  server = await startEtcd();
});
afterAll(async () => {
  await server.stop();
});

describeRecordStoreContract("etcd", async () => {
  fixtures += 1;
  const prefix = `f${fixtures}-`;
  return {
    open: (namespace = "default") =>
      openEtcdStore(server.url, { namespace: prefix + namespace, callTimeoutMs: 30_000 }),
    dispose: async () => {},
  };
});
