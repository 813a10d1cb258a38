/**
 * Moves the sequences of one database to another. Every step may be repeated, and a copy that was interrupted continues
 * where it was: the target first notes the number of the copy, then the source stops permanently under that number, and
 * only a target that has it is opened. So the two databases never both give values. docs/adr/0201 explains why.
 */
import { IdError } from "../errors.ts";
import { kernelRandom128 } from "../kernel-random.ts";
import { equalIdentity } from "../store/store-identity.ts";
import type { MovableStore } from "./movable-store.ts";
import {
  type CounterKey,
  counterId,
  type DatabaseRow,
  keysMax,
  type Look,
  type Mark,
  openAheadMaxMs,
} from "./sequence-store.ts";
import { equalDefinitions, type StoredSequence } from "./sequence.ts";

/** A database, and its name for people. */
export interface NamedStore {
  readonly store: Pick<MovableStore, "look" | "list" | "counters" | "servers" | "move">;
  /** 1 to 150 printable characters. */
  readonly place: string;
}

/** The outcome of a copy. `done`: the copy was complete already. */
export type CopyOutcome =
  | { readonly kind: "done" }
  | { readonly kind: "copied"; readonly sequenceCount: number; readonly counterCount: number };

/** Both databases, as a copy finds them. */
interface CopyState {
  readonly from: Look;
  readonly to: Look;
  /** Whether the target has neither sequences nor counters. */
  readonly isEmpty: boolean;
}

/** The next step of a copy. `go-on`: the source was already stopped under this number. */
type CopyPlan =
  | { readonly kind: "done" }
  | { readonly kind: "begin" }
  | { readonly kind: "go-on"; readonly copyId: string };

const pageSize = keysMax / 2;
const nowhere: CounterKey = { name: "", periodKey: "" };

/**
 * Moves all sequences of the source to the target, from which values can be taken 30 s later. The source stays stopped.
 *
 * @throws IdError INVALID_CONFIG: the databases are not in a state to be copied, and the message says what to do.
 * STORE_UNAVAILABLE.
 */
export async function copyDatabase(source: NamedStore, target: NamedStore): Promise<CopyOutcome> {
  const state = await readBoth(source, target);
  const plan = planCopy(state, source.place, target.place);
  if (plan.kind === "done") return plan;
  const copyId = plan.kind === "go-on" ? plan.copyId : await begin(state, source, target);
  const [{ database: from }, { database: to }] = [await source.store.look([]), await target.store.look([])];
  if (from === undefined || from.move !== `to ${target.place} ${copyId}`) throw changed();
  if (to === undefined || to.move !== `from ${source.place} ${copyId}`) throw changed();
  const { revision } = to;
  const counts = await copyRows(source, target, revision);
  await compareRows(source, target);
  const isOpen = await target.store.move({ kind: "open", revision, aboveRevision: from.revision });
  if (!isOpen) throw changed();
  return { kind: "copied", ...counts };
}

async function readBoth(source: NamedStore, target: NamedStore): Promise<CopyState> {
  const from = await source.store.look([]);
  const to = await target.store.look([]);
  const [sequences, counters] = [
    await target.store.list({ afterName: "", prefix: "", count: 1 }),
    await target.store.counters(nowhere, 1),
  ];
  return { from, to, isEmpty: sequences.length === 0 && counters.length === 0 };
}

/** Decides what a copy has to do. Pure. @throws IdError INVALID_CONFIG, STORE_UNAVAILABLE. */
function planCopy({ from, to, isEmpty }: CopyState, sourcePlace: string, targetPlace: string): CopyPlan {
  const [source, target] = [rowOf(from, sourcePlace), rowOf(to, targetPlace)];
  const isSame = source.member.storeId === target.member.storeId;
  const isAway = source.move.startsWith("to ");
  const isHere = placeOf(source.move) === `to ${targetPlace}` && isSame && target.move === "";
  if (isHere && target.revision > source.revision) return { kind: "done" };
  if (source.move.startsWith("from ")) {
    throw refused(`The copy to ${sourcePlace} has not ended. Repeat it first`, sourcePlace);
  }
  if (isAway) {
    const copyId = copyIdOf(source.move);
    if (target.move.startsWith("from ") && copyIdOf(target.move) === copyId) return { kind: "go-on", copyId };
    throw refused(`The sequences of ${sourcePlace} were moved ${placeOf(source.move)}`, sourcePlace);
  }
  if (source.stopped !== "") {
    throw refused(`${sourcePlace} is stopped: ${source.stopped}. Raise and open it first`, sourcePlace);
  }
  if (!equalIdentity(from.identity, source.identity)) {
    throw refused(`${sourcePlace} is another database or an older copy. Follow the runbook first`, sourcePlace);
  }
  const aheadMs = source.openMs - from.clockMs;
  if (aheadMs > 0 && aheadMs <= openAheadMaxMs) {
    throw new IdError("STORE_UNAVAILABLE", `${sourcePlace} has been opened just now. Wait for half a minute.`);
  }
  if (isEmpty || (isSame && target.stopped !== "")) return { kind: "begin" };
  const problem = isSame
    ? `${targetPlace} is the same database, or a copy of it that was not stopped`
    : `${targetPlace} has sequences of its own`;
  throw refused(`${problem}. Name a new database`, targetPlace);
}

/** Notes the copy in both databases; from then on the source gives no values. @returns The number of the copy. */
async function begin({ from, to }: CopyState, source: NamedStore, target: NamedStore): Promise<string> {
  const copyId = kernelRandom128();
  const [before, there] = [from.database!, to.database!];
  const received = await target.store.move({
    kind: "receive",
    revision: there.revision,
    move: `from ${source.place} ${copyId}`,
    reason: `sequences are being copied to it from ${source.place}`,
    from: before,
  });
  if (!received) throw changed();
  const isAway = await source.store.move({
    kind: "away",
    revision: before.revision,
    move: `to ${target.place} ${copyId}`,
    reason: `its sequences were moved to ${target.place}`,
  });
  if (!isAway) throw changed();
  return copyId;
}

async function copyRows({ store: source }: NamedStore, { store: target }: NamedStore, revision: number) {
  let [sequenceCount, counterCount] = [0, 0];
  const writeId = kernelRandom128();
  const put = async (rows: {
    readonly sequences?: readonly StoredSequence[];
    readonly counters?: readonly Mark[];
  }): Promise<void> => {
    const { sequences = [], counters = [] } = rows;
    const request = { kind: "put", revision, sequences, counters, servers: [], writeId } as const;
    if (!(await target.move(request))) throw changed();
  };
  for await (const sequences of sequencesOf(source)) {
    await put({ sequences });
    sequenceCount += sequences.length;
  }
  for await (const counters of countersOf(source)) {
    await put({ counters });
    counterCount += counters.length;
  }
  // Servers that have values of the source in memory are listed in the target, so that its operators see that they may
  // still give them.
  const servers = await source.servers();
  const request = { kind: "put", revision, sequences: [], counters: [], servers, writeId } as const;
  if (!(await target.move(request))) throw changed();
  return { sequenceCount, counterCount };
}

/** Compares every row once more. @throws IdError STORE_UNAVAILABLE if the target lacks one. */
async function compareRows({ store: source }: NamedStore, { store: target }: NamedStore): Promise<void> {
  for await (const sequences of sequencesOf(source)) {
    const there = (await target.look(sequences.map(({ definition }) => ({ name: definition.name, periodKey: "" }))))
      .sequences;
    for (const stored of sequences) {
      const copy = there.get(stored.definition.name);
      const isEqual =
        copy?.sequenceId === stored.sequenceId &&
        copy.closedBefore === stored.closedBefore &&
        equalDefinitions(copy.definition, stored.definition);
      if (!isEqual) throw changed();
    }
  }
  for await (const counters of countersOf(source)) {
    const there = (await target.look(counters)).counters;
    for (const { index, ...key } of counters) {
      const copied = there.get(counterId(key));
      if (copied === undefined || copied < index) throw changed();
    }
  }
}

async function* sequencesOf(store: NamedStore["store"]): AsyncGenerator<readonly StoredSequence[]> {
  for (let afterName = ""; ; ) {
    const page = await store.list({ afterName, prefix: "", count: pageSize });
    if (page.length === 0) return;
    yield page;
    afterName = page.at(-1)!.definition.name;
  }
}

async function* countersOf(store: NamedStore["store"]): AsyncGenerator<readonly Mark[]> {
  for (let after = nowhere; ; ) {
    const page = await store.counters(after, pageSize);
    if (page.length === 0) return;
    yield page;
    after = page.at(-1)!;
  }
}

function rowOf({ database }: Look, place: string): DatabaseRow {
  if (database !== undefined) return database;
  throw refused(`${place} has lost its row of this namespace. Restore it`, place);
}

/** `to PLACE ID` and `from PLACE ID`: the number of the copy is the last word. */
function copyIdOf(move: string): string {
  return move.slice(move.lastIndexOf(" ") + 1);
}

/** The place in such a text: all words before the last. */
export function placeOf(move: string): string {
  return move.slice(0, move.lastIndexOf(" "));
}

function refused(problem: string, place: string): IdError {
  return new IdError("INVALID_CONFIG", `${problem}.`, { metadata: { place } });
}

function changed(): IdError {
  const message = "A database was changed while its sequences were copied. Give the same command again.";
  return new IdError("STORE_UNAVAILABLE", message, { retryAfterMs: 1_000 });
}
