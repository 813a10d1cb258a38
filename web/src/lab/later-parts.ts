import { lazyPart } from "../lazy-part.ts";

/** The list of many IDs, and the query for those of one time. Undefined until it is loaded. */
export const listPart = lazyPart(() => import("./list.ts"));

/** The IDs that were found in a text, their difference, and IDs of other generators. Undefined until it is loaded. */
export const foundPart = lazyPart(() => import("./found.ts"));
