/** What a store shows of its life, and what it may undo: properties in which the product's stores differ. */
export interface StoreModel {
  readonly name: "any" | "sqlite" | "postgres" | "redis" | "etcd" | "zookeeper";
  /** Whether its answers say when its server started. */
  readonly tellsStart: boolean;
  /** What an empty store means: see Incarnation.emptyMeans. */
  readonly emptyMeans: "new" | "lost" | "lost, once it was emptied";
  /** See RecordStore.readsMayBeUndone. */
  readonly readsMayBeUndone: boolean;
  /** Whether its answers say how far its log has come. */
  readonly hasPosition: boolean;
  /** Whether each start of its server is another identity. */
  readonly isRenamedByRestart: boolean;
  /** Whether an older copy of its data may come back under the same identity, by a restart that shows. */
  readonly restartsOnOlderCopy: boolean;
}

const plain: StoreModel = {
  name: "any",
  tellsStart: false,
  emptyMeans: "new",
  readsMayBeUndone: false,
  hasPosition: false,
  isRenamedByRestart: false,
  restartsOnOlderCopy: false,
};

/** No store in particular. */
export const anyStore = {
  durable: plain,
  lossy: { ...plain, tellsStart: true, emptyMeans: "lost, once it was emptied" },
} as const satisfies Record<string, StoreModel>;

/** The stores of src/store by their properties; mysql has those of postgres, kubernetes those of etcd. */
export const storeModels = {
  sqlite: { ...plain, name: "sqlite" },
  postgres: { ...plain, name: "postgres", tellsStart: true, readsMayBeUndone: true, restartsOnOlderCopy: true },
  redis: { ...plain, name: "redis", emptyMeans: "lost", isRenamedByRestart: true },
  etcd: { ...plain, name: "etcd", hasPosition: true },
  zookeeper: { ...plain, name: "zookeeper", hasPosition: true, isRenamedByRestart: true },
} as const satisfies Record<string, StoreModel>;
