import { redisTiming, serverTiming } from "./record-store.ts";
import { storeKindOf } from "./store-kind.ts";

/** The longest default time limit. */
const defaultMaxMs = 5_000;
/** The share of a window: an outage may last for the rest of the window, less the time between two renewals. */
const windowShare = 1 / 6;

/**
 * The longest time that one call to a store may take if no setting gives it: a sixth of the window, at most 5 s.
 *
 * @param windowMs - The window that is set; undefined = the store's own.
 */
export function defaultStoreTimeoutMs(storeUrl: string, windowMs: number | undefined): number {
  const kind = storeKindOf(storeUrl);
  if (kind === "sqlite") return defaultMaxMs;
  const ownMs = (kind === "redis" ? redisTiming : serverTiming).windowMs;
  return Math.min(defaultMaxMs, Math.floor((windowMs ?? ownMs) * windowShare));
}
