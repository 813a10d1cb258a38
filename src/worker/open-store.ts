import { IdError } from "../errors.ts";
import type { RecordStore, StoreOptions } from "./record-store.ts";

/** Opens a store of one kind. Loaded on first use, so that nobody pays for drivers that he does not use. */
type OpenStore = (url: string, options: StoreOptions) => Promise<RecordStore>;

const postgres = async (): Promise<OpenStore> => (await import("./stores/postgres.ts")).openPostgresStore;
const mysql = async (): Promise<OpenStore> => (await import("./stores/mysql.ts")).openMysqlStore;
const redis = async (): Promise<OpenStore> => (await import("./stores/redis.ts")).openRedisStore;

/** By the scheme of the URL; several may mean one kind. */
const stores: Readonly<Record<string, () => Promise<OpenStore>>> = {
  sqlite: async () => (await import("./stores/sqlite.ts")).openSqliteStore,
  postgres,
  postgresql: postgres,
  mysql,
  mariadb: mysql,
  redis,
  rediss: redis,
  etcd: async () => (await import("./stores/etcd.ts")).openEtcdStore,
  zookeeper: async () => (await import("./stores/zookeeper.ts")).openZooKeeperStore,
  kubernetes: async () => (await import("./stores/kubernetes.ts")).openKubernetesStore,
};

const namespacePattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Opens the store that a URL names.
 *
 * @param url - `sqlite:PATH`, `postgres://...` and so on: the scheme chooses.
 * @throws IdError INVALID_CONFIG: an unknown scheme, a malformed URL or namespace, a driver that is not installed.
 */
export async function openStore(url: string, options: StoreOptions): Promise<RecordStore> {
  if (!namespacePattern.test(options.namespace)) {
    const message = `The namespace ${options.namespace} is not 1 to 63 lower-case letters, digits and hyphens.`;
    throw new IdError("INVALID_CONFIG", message, { metadata: { setting: "namespace", value: options.namespace } });
  }
  const scheme = /^([a-z]+):/.exec(url)?.[1] ?? "";
  const load = Object.hasOwn(stores, scheme) ? stores[scheme] : undefined;
  if (load === undefined) {
    // Not the whole URL: it may carry a password.
    const message = `The store URL begins with ${scheme === "" ? "no scheme" : `${scheme}:`}; possible are ${Object.keys(stores).join(", ")}.`;
    throw new IdError("INVALID_CONFIG", message, { metadata: { setting: "store", scheme } });
  }
  const open = await load();
  return await open(url, options);
}
