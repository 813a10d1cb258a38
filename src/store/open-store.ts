import { IdError } from "../errors.ts";
import type { RecordStore, StoreOptions } from "./record-store.ts";
import { schemeOf, type StoreKind, storeKindOf, storeSchemes } from "./store-kind.ts";

/** Opens a store of one kind. */
type OpenStore = (url: string, options: StoreOptions) => Promise<RecordStore>;

/** Each is loaded on first use, so that a process has only the driver that it uses. */
const stores: Readonly<Record<StoreKind, () => Promise<OpenStore>>> = {
  sqlite: async () => (await import("./sqlite/sqlite.ts")).openSqliteStore,
  postgres: async () => (await import("./postgres.ts")).openPostgresStore,
  mysql: async () => (await import("./mysql.ts")).openMysqlStore,
  redis: async () => (await import("./redis.ts")).openRedisStore,
  etcd: async () => (await import("./etcd.ts")).openEtcdStore,
  zookeeper: async () => (await import("./zookeeper/zookeeper.ts")).openZooKeeperStore,
  kubernetes: async () => (await import("./kubernetes/kubernetes.ts")).openKubernetesStore,
};

/** 1 to 63 lower-case letters, digits and hyphens, with a letter or digit at both ends. */
export const namespacePattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

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
  const kind = storeKindOf(url);
  if (kind === undefined) {
    // Only the scheme: the whole URL may contain a password.
    const scheme = schemeOf(url);
    const message = `The store URL begins with ${scheme === "" ? "no scheme" : `${scheme}:`}; supported are ${storeSchemes.join(", ")}.`;
    throw new IdError("INVALID_CONFIG", message, { metadata: { setting: "store", scheme } });
  }
  const open = await stores[kind]();
  return await open(url, options);
}
