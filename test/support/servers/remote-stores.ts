import { startEtcd } from "./etcd-server.ts";
import { FakeKubernetes } from "./fake-kubernetes.ts";
import { startMariadb } from "./mariadb-server.ts";
import { startPostgres } from "./postgres-server.ts";
import { startRedis } from "./redis-server.ts";
import { startZooKeeper } from "./zookeeper-server.ts";

/** The server of a remote store, and what can be done to it. */
export interface RemoteStoreServer {
  /** The options that a store is opened with. */
  readonly url: string;
  readonly port: number;
  /** Freezes it: connections stay open, nothing is answered. */
  pause(): void;
  resume(): void;
  /** Ends it without warning. */
  kill(): Promise<void>;
  /** Starts it again, on the same data and port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** A kind of remote store, with its real server; Kubernetes with the one of this process. */
export interface RemoteStoreKind {
  readonly kind: string;
  readonly start: () => Promise<RemoteStoreServer>;
}

/** Every remote store. Each keeps its records over a restart, Redis by its append-only file. */
export const remoteStoreKinds: readonly RemoteStoreKind[] = [
  { kind: "postgres", start: () => startPostgres() },
  { kind: "mysql", start: () => startMariadb() },
  { kind: "redis", start: () => startRedis({ persistence: "every-write" }) },
  { kind: "etcd", start: () => startEtcd() },
  { kind: "zookeeper", start: () => startZooKeeper() },
  {
    kind: "kubernetes",
    start: async () => {
      const api = new FakeKubernetes();
      await api.listen();
      return api;
    },
  },
];

/** The URL of a server by another port: that of a proxy before it. */
export function withPort(server: RemoteStoreServer, port: number): string {
  return server.url.replace(`:${server.port}`, `:${port}`);
}
