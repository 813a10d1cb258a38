import { parseWorkerKey, readWorkerSlot } from "../../lease/records/worker-record.ts";
import type { Entry } from "../../store/record-store.ts";

/**
 * Refuses to move records that only a newer version can write again: this one can neither fence their holders nor raise
 * their marks. See docs/adr/0110.
 *
 * @throws IdError INVALID_CONFIG.
 */
export function refuseNewer(entries: readonly Entry[]): void {
  for (const entry of entries) {
    const slot = parseWorkerKey(entry.key) === undefined ? undefined : readWorkerSlot(entry);
    if (slot?.kind === "newer") throw slot.error;
  }
}
