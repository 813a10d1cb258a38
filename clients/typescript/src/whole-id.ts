/**
 * Refuses what is not an ID or a time, for callers without types: mostly a number, which JSON and spreadsheets make of
 * an ID.
 */

/** @throws TypeError, if it is not a bigint. */
export function wholeId(id: unknown): bigint {
  if (typeof id === "bigint") return id;
  const why = typeof id === "number" ? "a number loses an ID's last digits" : "an ID is a bigint";
  throw new TypeError(`${String(id)} is not an ID, because ${why}: give a bigint, or read the ID as text.`);
}

/** Returns Unix nanoseconds. @throws TypeError, if it is neither a valid Date nor a bigint. */
export function nanosecondsOf(moment: unknown): bigint {
  if (typeof moment === "bigint") return moment;
  const ms = moment instanceof Date ? moment.getTime() : Number.NaN;
  if (Number.isNaN(ms))
    throw new TypeError(`${String(moment)} is not a time: give a Date, or Unix nanoseconds as a bigint.`);
  return BigInt(ms) * 1_000_000n;
}
