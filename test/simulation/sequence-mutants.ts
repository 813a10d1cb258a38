/** Rules of the processes that a mutant leaves out; those of the database are in memory-sequences.ts. */
import { counterId, type GiveBackRequest, type Mark, type SequenceStore } from "../../src/sequence/sequence-store.ts";

/** The rule that is left out. */
export type ProcessMutant =
  | "no-cover"
  | "uses-unanswered-range"
  | "no-raise"
  | "raises-once-after-two-moves"
  | "keeps-given-range"
  | "forgets-given-marks"
  | "look-lifts-mark"
  /** {@link CounterMarks.get} finds nothing; the test sees to that, and to the next one. */
  | "no-comparison"
  | "eviction-forgets-mark";

/** The store of a process that has the fault of a mutant, as far as that shows in what it sends. */
export function storeOfMutant(store: SequenceStore, mutant: string | undefined): SequenceStore {
  if (mutant === "no-cover") return { ...store, cover: async () => {} };
  if (mutant === "keeps-given-range") return keepingGivenRanges(store);
  if (mutant === "forgets-given-marks") return forgettingGivenMarks(store);
  if (mutant === "look-lifts-mark") return liftingMarks(store);
  return store;
}

/** A store whose process hands out once more what it gave back. */
function keepingGivenRanges(store: SequenceStore): SequenceStore {
  const kept = new Map<string, GiveBackRequest>();
  return {
    ...store,
    giveBack: (request) => {
      kept.set(counterId(request), request);
      return store.giveBack(request);
    },
    take: async (request, witness) => {
      const { firstIndex = 0n, endIndex = 0n } = kept.get(counterId(request)) ?? {};
      kept.delete(counterId(request));
      return endIndex - firstIndex >= request.count ? firstIndex : store.take(request, witness);
    },
  };
}

/** A store whose process does not cover what it took of counters that it gave a range back to. */
function forgettingGivenMarks(store: SequenceStore): SequenceStore {
  const forgotten = new Set<string>();
  return {
    ...store,
    giveBack: (request) => {
      forgotten.add(counterId(request));
      return store.giveBack(request);
    },
    cover: (marks, writeId) => {
      const left = marks.filter((mark) => !forgotten.has(counterId(mark)));
      return left.length === 0 ? Promise.resolve() : store.cover(left, writeId);
    },
  };
}

/** A store whose process takes what a look shows for marks, and stops the database where a later look shows less. */
function liftingMarks(store: SequenceStore): SequenceStore {
  const marks = new Map<string, Mark>();
  return {
    ...store,
    look: async (keys, processId) => {
      const before = new Map(marks);
      const look = await store.look(keys, processId);
      for (const key of keys) {
        const id = counterId(key);
        const [used, mark] = [look.counters.get(id), before.get(id)];
        if (used === undefined) continue;
        // A give-back of its own lowers its mark.
        if (mark !== undefined && marks.has(id) && used < mark.index) {
          const reason = `the counter of ${id} is at ${used}, after ${mark.index}`;
          await store.stop({ reason, revision: look.database?.revision ?? 0, emptiesStock: true, by: "server" });
        }
        marks.set(id, { ...key, index: used });
      }
      return look;
    },
    giveBack: (request) => {
      marks.delete(counterId(request));
      return store.giveBack(request);
    },
    cover: (own, writeId) => {
      const all = new Map(marks);
      for (const mark of own) {
        const seen = all.get(counterId(mark));
        all.set(counterId(mark), seen !== undefined && seen.index > mark.index ? seen : mark);
      }
      return store.cover([...all.values()], writeId);
    },
  };
}
