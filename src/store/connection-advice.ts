import { moreConnections } from "./link/sql-database.ts";
import type { StoreAdvice } from "./record-store.ts";

/** With fewer free connections than this, the next servers that start would use them up. */
const freeMin = 10;

/**
 * Reports a database with hardly any connections left. A server keeps one connection to each host of its URL, and has
 * at most three.
 *
 * @param connections - The connections of all users at this moment, and how many the server allows.
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
