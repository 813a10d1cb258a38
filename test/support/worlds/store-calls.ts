/** Calls of a database of sequences, as the process that has its witness rows makes them. */
import { kernelRandom128 } from "../../../src/kernel-random.ts";
import type { OpenOutcome, SequenceStore, TakeRequest } from "../../../src/sequence/sequence-store.ts";
import { TakeWitness, type WitnessFinding } from "../../../src/sequence/take-witness.ts";

type Witnessed = Pick<SequenceStore, "look" | "lineCount" | "makeWitness" | "take">;

const witnesses = new WeakMap<Witnessed, Promise<TakeWitness>>();

/** The witness of a store, whose rows are made with the first call. */
export function witnessOf(store: Witnessed): Promise<TakeWitness> {
  const known = witnesses.get(store) ?? makeWitness(store);
  witnesses.set(store, known);
  return known;
}

async function makeWitness(store: Witnessed): Promise<TakeWitness> {
  const witness = new TakeWitness(store.lineCount);
  const { processId, firstRows: rows } = witness;
  const { clockMs: seenMs } = await store.look([]);
  await store.makeWitness({ processId, rows, server: "test", seenMs, epoch: 0, formerId: "" });
  witness.made(seenMs);
  return witness;
}

/** Takes values, and looks where nothing was taken, as a process does: the row may have been written all the same. */
export async function takeIn(store: Witnessed, request: TakeRequest): Promise<bigint | undefined> {
  const witness = await witnessOf(store);
  const firstIndex = await store.take(request, witness);
  if (firstIndex === undefined) await judgeIn(store);
  return firstIndex;
}

/** Looks, and says what the rows of {@link witnessOf} show. */
export async function judgeIn(store: Witnessed): Promise<WitnessFinding> {
  const witness = await witnessOf(store);
  const watch = witness.watch();
  const look = await store.look([], witness.processId);
  return witness.judge(watch, look.witness, look.clockMs);
}

/** Raises every counter by nothing, and opens the database. */
export async function raiseAndOpen(store: Pick<SequenceStore, "raise" | "open">): Promise<OpenOutcome> {
  await store.raise({ kind: "all", count: 0n }, kernelRandom128());
  return store.open();
}

/** Stops the database, as a server does that found a loss. */
export function stopIn(store: Pick<SequenceStore, "stop">, reason: string, revision: number): Promise<boolean> {
  return store.stop({ reason, revision, emptiesStock: false, by: "server" });
}
