import { IdError } from "../errors.ts";
import type { MovableStore } from "./movable-store.ts";
import { readList } from "./stripe-members.ts";

/** The outcome of an adoption. `in-use`: the database gives values, so nothing was changed. */
export type AdoptOutcome = { readonly kind: "adopted"; readonly stripe: number } | { readonly kind: "in-use" };

/**
 * Gives a database the ID and the stripe of one that is lost permanently, so that the deployment treats it as that one.
 * It is stopped afterwards. docs/adr/0201 explains why.
 *
 * @param databaseId - 32 hex digits.
 * @throws IdError INVALID_CONFIG: the database knows of several databases, but of none with that ID. STORE_UNAVAILABLE.
 */
export async function adoptDatabase(
  store: Pick<MovableStore, "look" | "list" | "counters" | "move">,
  databaseId: string,
): Promise<AdoptOutcome> {
  const { database } = await store.look([]);
  if (database === undefined) throw changed();
  const { revision, member } = database;
  const stripe = stripeOf(databaseId, member.members);
  if (stripe === -1 || (stripe === undefined && member.count > 1)) {
    const message = `The database does not list a database ${databaseId} beside itself. Load a dump of one that does into it first.`;
    throw new IdError("INVALID_CONFIG", message, { metadata: { database: databaseId } });
  }
  const reason = `it takes the place of the lost database ${databaseId}`;
  const index = stripe ?? 0;
  if (await store.move({ kind: "adopt", revision, storeId: databaseId, index, reason })) {
    return { kind: "adopted", stripe: index };
  }
  if ((await store.look([])).database?.revision !== revision) throw changed();
  return { kind: "in-use" };
}

/** The stripe of an ID in a list of databases: -1 if it is not in the list; undefined if there is no list. */
function stripeOf(databaseId: string, members: string): number | undefined {
  return members === "" ? undefined : readList(members).storeIds.indexOf(databaseId);
}

function changed(): IdError {
  return new IdError("STORE_UNAVAILABLE", "The database was changed meanwhile. Give the same command again.");
}
