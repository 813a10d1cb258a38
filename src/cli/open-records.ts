import { settleStoreUrl } from "../config/settle-server.ts";
import { valueOf } from "../config/settled.ts";
import { openStore } from "../worker/open-store.ts";
import type { RecordStore } from "../worker/record-store.ts";
import type { Surroundings } from "./command.ts";

/** What an operator's command says of the store. */
export interface StoreChoice {
  readonly storeUrl: string | undefined;
  readonly namespace: string;
}

/** Longest time of one call to the store: long enough for a far one, short enough for somebody who waits. */
const callTimeoutMs = 5_000;

/** Opens the records that a command looks at. Makes nothing where there are none. @throws IdError INVALID_CONFIG. */
export function openRecords(choice: StoreChoice, environment: Surroundings["environment"]): Promise<RecordStore> {
  return openExistingRecords(valueOf(settleStoreUrl(choice, environment)), choice.namespace);
}

/** {@link openRecords} for a URL. */
export function openExistingRecords(storeUrl: string, namespace: string): Promise<RecordStore> {
  return openStore(storeUrl, { namespace, callTimeoutMs, whereNew: "refuse" });
}

/** Opens a store that may be new. */
export function openNewRecords(storeUrl: string, namespace: string): Promise<RecordStore> {
  return openStore(storeUrl, { namespace, callTimeoutMs });
}

/** Where a store is, for people: without user, password and parameters. */
export function placeOf(storeUrl: string): string {
  const bare = storeUrl.startsWith("sqlite:") ? storeUrl : storeUrl.replace(/^([a-z]+:\/\/).*@/, "$1");
  return bare.replace(/[?#].*$/, "");
}
