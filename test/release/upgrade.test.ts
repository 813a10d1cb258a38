import { join } from "node:path";
import { afterAll, beforeAll, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { type Builds, makeBuilds, rollThereAndBack } from "../support/releases/rolling-upgrade.ts";
import { startMysql } from "../support/servers/mysql-server.ts";
import { remoteStoreKinds } from "../support/servers/remote-stores.ts";

/** A rolling upgrade on each kind of store, and the way back. That on Kubernetes is in test/kube/upgrade.test.ts. */
let builds: Builds;
beforeAll(async () => void (builds = await makeBuilds()), 900_000);
afterAll(() => builds?.remove());

const stores = [
  {
    kind: "sqlite",
    start: async () => ({ url: `sqlite:${join(temporaryFolder(), "ids.db")}`, stop: async () => {} }),
  },
  // Kubernetes is a stand-in there, and `mysql` is MariaDB.
  ...remoteStoreKinds.filter(({ kind }) => kind !== "kubernetes"),
  { kind: "mysql itself", start: () => startMysql() },
];

test.each(stores)(
  "two servers roll from the last build to this one and back under load on $kind: no ID twice, and no call fails",
  { timeout: 900_000 },
  async ({ start }) => {
    const store = await start();
    onTestFinished(() => store.stop());
    await rollThereAndBack(store.url, builds);
  },
);
