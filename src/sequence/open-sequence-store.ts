import { IdError } from "../errors.ts";
import { schemeOf, storeKindOf } from "../store/store-kind.ts";
import type { MovableStore } from "./movable-store.ts";
import type { SequenceStoreOptions } from "./sequence-store.ts";

/** Opens the sequences of one database. */
type OpenStore = (url: string, options: SequenceStoreOptions) => Promise<MovableStore>;

/** Each is loaded on first use, so that a process has only the driver that it uses. */
const stores = {
  sqlite: async (): Promise<OpenStore> => (await import("./stores/sqlite.ts")).openSqliteSequences,
  postgres: async (): Promise<OpenStore> => (await import("./stores/postgres.ts")).openPostgresSequences,
  mysql: async (): Promise<OpenStore> => (await import("./stores/mysql.ts")).openMysqlSequences,
} as const;

/** A kind of database that keeps sequences. */
export type SequenceStoreKind = keyof typeof stores;

/** The kind of database that a store's URL names, if it can keep sequences. */
export function sequenceStoreKindOf(url: string): SequenceStoreKind | undefined {
  const kind = storeKindOf(url);
  return kind !== undefined && Object.hasOwn(stores, kind) ? (kind as SequenceStoreKind) : undefined;
}

/** The schemes of the databases that keep sequences, for messages. */
export const sequenceSchemes: readonly string[] = Object.keys(stores).map((kind) => `${kind}:`);

/**
 * Opens the database that a URL names.
 *
 * @throws IdError INVALID_CONFIG: a kind of store that cannot keep sequences, a malformed URL, a driver that is not
 * installed.
 */
export async function openSequenceStore(url: string, options: SequenceStoreOptions): Promise<MovableStore> {
  const kind = sequenceStoreKindOf(url);
  if (kind === undefined) {
    // Only the scheme: the whole URL may contain a password.
    const scheme = schemeOf(url);
    const message = `Sequences cannot be kept in a store of the kind ${scheme}: supported are ${sequenceSchemes.join(", ")}.`;
    throw new IdError("INVALID_CONFIG", message, { metadata: { setting: "sequenceStores", scheme } });
  }
  const open = await stores[kind]();
  return open(url, options);
}
