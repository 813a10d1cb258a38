/** The losses of data that docs/store-losses.md says nobody sees, on the real store. */
import type { Entry, RecordStore } from "../../src/store/record-store.ts";
import { askPort } from "../support/servers/ask-port.ts";
import { startEtcd } from "../support/servers/etcd-server.ts";
import { FakeKubernetes } from "../support/servers/fake-kubernetes.ts";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { startRedis } from "../support/servers/redis-server.ts";
import type { StoreServer } from "../support/servers/server-version.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import { startZooKeeper } from "../support/servers/zookeeper-server.ts";
import { withStore } from "./loss-run.ts";

/** A store that is about to lose data. */
export interface UnseenLossStage {
  readonly url: string;
  /** W: longer than a loss takes, lest a holder lapses meanwhile and acquires before the quarantine is put down. */
  readonly windowMs: number;
  /** Keeps what there is now. */
  readonly keep: () => Promise<void>;
  /** Puts back what was kept last. */
  readonly lose: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** A way to lose data. */
export interface UnseenLoss {
  /** undefined: the Lease API of Kubernetes, in this process. */
  readonly server: StoreServer | undefined;
  readonly name: string;
  readonly set: () => Promise<UnseenLossStage>;
}

/** All of them, in the order of the table. */
export const unseenLosses: readonly UnseenLoss[] = [
  { server: "redis", name: "redis: an older hash put back into the server that runs", set: copiedBack },
  {
    server: "postgres",
    name: "postgres: older rows in the existing table",
    set: async () => rewritten(await startPostgres()),
  },
  {
    server: "mariadb",
    name: "mysql: older rows in the existing table",
    set: async () => rewritten(await startMariadb()),
  },
  {
    server: "zookeeper",
    name: "zookeeper: older texts in the existing znodes",
    set: async () => rewritten(await startZooKeeper()),
  },
  {
    server: "zookeeper",
    name: "zookeeper: a standalone server restarts on an older data folder",
    set: async () => restored(await startZooKeeper()),
  },
  {
    server: "etcd",
    name: "etcd: a restart on an older data folder",
    set: async () => restored(await startEtcd()),
  },
  { server: undefined, name: "kubernetes: older leases", set: kubernetes },
];

/** Older texts are written over the existing ones, by statements like any others. */
function rewritten(server: { readonly url: string; readonly stop: () => Promise<void> }): UnseenLossStage {
  const { url } = server;
  let kept: readonly Entry[] = [];
  return {
    url,
    windowMs: 8_000,
    keep: async () => {
      kept = await withStore(url, async (store) => (await store.list()).entries);
    },
    lose: () =>
      withStore(url, async (store) => {
        for (const { key, text } of kept) await overwrite(store, key, text);
      }),
    stop: () => server.stop(),
  };
}

/** Holders write meanwhile. */
async function overwrite(store: RecordStore, key: string, text: string): Promise<void> {
  for (;;) {
    const { entry } = await store.read(key);
    if ((await store.compareAndSet(key, entry, text)).kind === "applied") return;
  }
}

function restored(server: TestServer): UnseenLossStage {
  return {
    url: server.url,
    windowMs: 20_000,
    keep: () => server.backUp(),
    lose: () => server.restore(),
    stop: () => server.stop(),
  };
}

async function copiedBack(): Promise<UnseenLossStage> {
  const server = await startRedis({ persistence: "every-write" });
  const copy = async (from: string, to: string): Promise<void> => {
    await askPort(server.port, `COPY ${from} ${to} REPLACE\r\nQUIT\r\n`);
  };
  return {
    url: server.url,
    windowMs: 8_000,
    keep: () => copy("snowlane:{default}", "backup"),
    lose: () => copy("backup", "snowlane:{default}"),
    stop: () => server.stop(),
  };
}

async function kubernetes(): Promise<UnseenLossStage> {
  const api = new FakeKubernetes();
  await api.listen();
  return rewritten(api);
}
