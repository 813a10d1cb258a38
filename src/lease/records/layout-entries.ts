import * as v from "valibot";
import { printable, random128, unixMs, wholeFrom } from "./record-text.ts";

/**
 * The schema of the fields of L, which a move record carries as well. It is kept apart from the type, because the
 * library's types use that type, and a user of the library does not have the package that the schema needs.
 */
export const layoutEntries = {
  deploymentId: random128,
  namespace: printable(1, 63),
  epochMs: unixMs,
  tickNs: wholeFrom(1),
  fields: v.array(
    v.strictObject({
      kind: v.picklist(["timestamp", "datacenter", "worker", "sequence"]),
      bits: v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(62)),
    }),
  ),
  datacenterIds: v.union([v.literal("all"), v.array(wholeFrom(0))]),
  workerIds: v.union([v.literal("all"), v.strictObject({ first: wholeFrom(0), last: wholeFrom(0) })]),
  windowMaxMs: wholeFrom(1),
  leadMaxMs: wholeFrom(1),
};
