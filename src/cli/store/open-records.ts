import { resolveStoreUrl } from "../../config/resolve-server.ts";
import { valueOf } from "../../config/resolved.ts";
import { openStore } from "../../store/open-store.ts";
import type { RecordStore } from "../../store/record-store.ts";
import type { CommandContext } from "../command.ts";

/** The store settings of an operator's command. */
export interface StoreChoice {
  readonly storeUrl: string | undefined;
  readonly namespace: string;
}

/** Longest time of one call to the store: long enough for a distant one, short enough for a user who waits. */
const commandTimeoutMs = 5_000;

/** Opens the records that a command reads. Makes nothing where there are none. @throws IdError INVALID_CONFIG. */
export function openRecords(choice: StoreChoice, environment: CommandContext["environment"]): Promise<RecordStore> {
  return openExistingRecords(valueOf(resolveStoreUrl(choice, environment)), choice.namespace);
}

/** {@link openRecords} for a URL. */
export function openExistingRecords(
  storeUrl: string,
  namespace: string,
  callTimeoutMs = commandTimeoutMs,
): Promise<RecordStore> {
  return openStore(storeUrl, { namespace, callTimeoutMs, whereNew: "refuse" });
}

/** Opens a store that may be new. */
export function openNewRecords(
  storeUrl: string,
  namespace: string,
  callTimeoutMs = commandTimeoutMs,
): Promise<RecordStore> {
  return openStore(storeUrl, { namespace, callTimeoutMs });
}
