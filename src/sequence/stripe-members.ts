/**
 * Decides which database has which stripe. Pure: takes rows, and returns the next step. docs/adr/0170 explains why.
 *
 * The database of stripe 0 keeps the list, and appends to it by compare-and-set, so that no stripe is given twice; the
 * others have copies. A database gives values when its own copy names it, so a database can be checked alone.
 */
import { IdError } from "../errors.ts";
import type { JoinRequest, Member } from "./sequence-store.ts";
import { onlyStripe, type Stripe } from "./sequence.ts";

/** The databases, in the order of their stripes. */
interface MemberList {
  /** With how many databases its first server was started: no database gives values before that many have a stripe. */
  readonly plannedCount: number;
  readonly storeIds: readonly string[];
}

/** The next step. `wait`: more of the databases have to answer. */
export type StripeStep =
  | { readonly kind: "join"; readonly position: number; readonly request: JoinRequest }
  | { readonly kind: "wait" }
  /**
   * `stripes`: the stripe of each database that answered, by position. `memberCount`: how many databases there are in
   * all. `databaseId`: the ID of stripe 0, which no added database changes.
   */
  | {
      readonly kind: "settled";
      readonly stripes: ReadonlyMap<number, Stripe>;
      readonly memberCount: number;
      readonly databaseId: string;
    };

/** How databases get their stripes. */
export interface StripeRules {
  /** The number of stripes that an operator has set; undefined if none was set. */
  readonly stripeCount: number | undefined;
  /** Whether a database that the first server did not have may get a stripe: only an operator may add one. */
  readonly adds: "never" | "operator";
}

/** A database that answered, and its position in the list of URLs, from 0. */
interface Row extends Member {
  readonly position: number;
}

/**
 * Decides the next step.
 *
 * @param members - One entry for each named database, in the order of their URLs; undefined if it did not answer.
 * @throws IdError INVALID_CONFIG: the databases do not belong together, or their number is wrong.
 */
export function decideStripes(members: readonly (Member | undefined)[], rules: StripeRules): StripeStep {
  const rows = members.flatMap((member, position) => (member === undefined ? [] : [{ ...member, position }]));
  const [first] = rows;
  if (first === undefined) return { kind: "wait" };
  checkCounts(rows, members.length, rules);
  if (first.count === 1) {
    const stripes = new Map([[first.position, onlyStripe]]);
    return { kind: "settled", stripes, memberCount: 1, databaseId: databaseIdOf(first) };
  }
  checkDifferent(rows);
  const list = longestList(rows);
  if (list === undefined) return foundList(rows, members.length);
  return repairStep(rows, list) ?? appendStep(rows, list, rules) ?? settle(rows, list);
}

function checkCounts(rows: readonly Row[], listedCount: number, { stripeCount }: StripeRules): void {
  const { count } = rows[0]!;
  const other = rows.find((row) => row.count !== count);
  if (other !== undefined) {
    throw refuse(
      `database ${rows[0]!.position + 1} has ${count} stripes, and database ${other.position + 1} has ${other.count}`,
    );
  }
  if (stripeCount !== undefined && stripeCount !== count) {
    throw refuse(`they were made with ${count} stripes, not ${stripeCount}, and that can never change`);
  }
  if (listedCount > count) {
    throw refuse(`${listedCount} are named, and they were made with ${count} stripe${count === 1 ? "" : "s"}`);
  }
}

/** Refuses a database that is named twice, or together with its own copy. */
function checkDifferent(rows: readonly Row[]): void {
  for (const row of rows) {
    const other = rows.find(({ storeId, position }) => storeId === row.storeId && position > row.position);
    if (other === undefined) continue;
    throw refuse(
      `databases ${row.position + 1} and ${other.position + 1} claim one stripe: one is a copy of the other`,
    );
  }
}

/** The longest list that a database has; undefined if none has a list. */
function longestList(rows: readonly Row[]): MemberList | undefined {
  const lists = rows.flatMap((row) => (row.members === "" ? [] : [{ row, list: readList(row.members) }]));
  const longest = lists.reduce<MemberList | undefined>(
    (best, { list }) => (best === undefined || list.storeIds.length > best.storeIds.length ? list : best),
    undefined,
  );
  if (longest === undefined) return undefined;
  for (const { row, list } of lists) {
    const isPart = list.storeIds.every((storeId, index) => longest.storeIds[index] === storeId);
    if (isPart && longest.storeIds[row.index] === row.storeId) continue;
    throw refuse(`database ${row.position + 1} belongs to others: its stripe ${row.index} is another database's here`);
  }
  return longest;
}

/**
 * All databases are new: the one with the lowest ID begins the list, no matter which server looks, and in which order.
 */
function foundList(rows: readonly Row[], listedCount: number): StripeStep {
  if (rows.length < listedCount) return { kind: "wait" };
  const { position, storeId } = rows.reduce((least, row) => (row.storeId < least.storeId ? row : least));
  const after = writeList({ plannedCount: listedCount, storeIds: [storeId] });
  return { kind: "join", position, request: { storeId, before: "", after, index: 0 } };
}

/** The step for a database that is in the list, but does not have the present list. */
function repairStep(rows: readonly Row[], list: MemberList): StripeStep | undefined {
  const after = writeList(list);
  for (const { position, storeId, members } of rows) {
    const index = list.storeIds.indexOf(storeId);
    if (index < 0 || members === after) continue;
    return { kind: "join", position, request: { storeId, before: members, after, index } };
  }
  return undefined;
}

/** The step for a database that is not in the list. */
function appendStep(rows: readonly Row[], list: MemberList, { adds }: StripeRules): StripeStep | undefined {
  const outside = rows.find(({ storeId }) => !list.storeIds.includes(storeId));
  if (outside === undefined) return undefined;
  if (adds === "never" && list.storeIds.length >= list.plannedCount) {
    const hint = "Add it with snowlane sequences add-database URL. If it was emptied, restore it.";
    throw refuse(`database ${outside.position + 1} has no stripe`, hint);
  }
  if (list.storeIds.length >= outside.count) throw refuse(`all ${outside.count} stripes are taken`);
  const keeper = rows.find(({ storeId }) => storeId === list.storeIds[0]);
  if (keeper === undefined) return { kind: "wait" };
  const after = writeList({ ...list, storeIds: [...list.storeIds, outside.storeId] });
  const request = { storeId: keeper.storeId, before: keeper.members, after, index: 0 };
  return { kind: "join", position: keeper.position, request };
}

function settle(rows: readonly Row[], { storeIds, plannedCount }: MemberList): StripeStep {
  if (storeIds.length < plannedCount) return { kind: "wait" };
  const stripes = new Map(rows.map(({ position, index, count }) => [position, { index, count }]));
  return { kind: "settled", stripes, memberCount: storeIds.length, databaseId: storeIds[0]! };
}

/** The ID by which a deployment identifies its databases: that of stripe 0. */
export function databaseIdOf({ storeId, members }: Pick<Member, "storeId" | "members">): string {
  return readList(members).storeIds[0] ?? storeId;
}

/** Reads a list of databases. */
export function readList(text: string): MemberList {
  const [planned, ...storeIds] = text.split(" ");
  return { plannedCount: Number(planned), storeIds };
}

function writeList({ plannedCount, storeIds }: MemberList): string {
  return [plannedCount, ...storeIds].join(" ");
}

function refuse(problem: string, hint = "Check --sequence-stores and --sequence-stripes."): IdError {
  const message = `The databases of sequences do not fit together: ${problem}. ${hint}`;
  return new IdError("INVALID_CONFIG", message, { metadata: { setting: "sequenceStores", problem } });
}
