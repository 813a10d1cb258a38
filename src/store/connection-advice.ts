import { moreConnections } from "./link/sql-database.ts";
import type { StoreAdvice } from "./record-store.ts";

/** So few free connections are used up by the next servers that start. */
const freeMin = 10;

/**
 * Finds a database with hardly any connections left. A server keeps one to each host of its URL, and has three at most.
 *
 * @param connections - Those of all users at this moment, and how many the server allows.
 */
export function connectionAdvice({
  connected,
  max,
}: {
  readonly connected: number;
  readonly max: number;
}): readonly StoreAdvice[] {
  if (max - connected >= freeMin) return [];
  return [
    {
      detail: `${connected} of ${max} connections are in use: each Snowlane server needs one, and up to three for a while.`,
      hint: moreConnections,
    },
  ];
}
