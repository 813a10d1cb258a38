import type { CounterKey, DatabaseRow, Mark, SequenceStore, ServerRow } from "./sequence-store.ts";
import type { StoredSequence } from "./sequence.ts";

/**
 * A step of a copy to another database, or the adoption of an ID. Each names the revision that the database must have.
 */
export type MoveRequest = { readonly revision: number } & (
  | {
      /** Stops the database permanently, because its sequences go to another one. It must be open. */
      readonly kind: "away";
      readonly move: string;
      readonly reason: string;
    }
  | {
      /** Makes the database the target of a copy. It must be empty, or stopped and of the same ID. */
      readonly kind: "receive";
      readonly move: string;
      readonly reason: string;
      /** The row of the source, whose ID and stripe the target gets. */
      readonly from: DatabaseRow;
    }
  | {
      /** Writes rows of the source into the target. A counter is never lowered. */
      readonly kind: "put";
      readonly sequences: readonly StoredSequence[];
      readonly counters: readonly Mark[];
      /** Processes that may hold values of the source. */
      readonly servers: readonly ServerRow[];
      readonly writeId: string;
    }
  | {
      /** Opens the target when everything is there: in 30 s by its clock. */
      readonly kind: "open";
      /** The revision of the source; the target gets a higher one. */
      readonly aboveRevision: number;
    }
  | {
      /** Gives the database the ID and the stripe of one that is lost. It must be empty, or stopped. */
      readonly kind: "adopt";
      readonly storeId: string;
      readonly index: number;
      readonly reason: string;
    }
);

/** A database whose sequences can be moved to another one. Each call is one transaction. */
export interface MovableStore extends SequenceStore {
  /** Lists counters by name and period. */
  counters(after: CounterKey, count: number): Promise<readonly Mark[]>;
  /** Does one step. @returns Whether it was done; false if the database is not in the state that the step requires. */
  move(request: MoveRequest): Promise<boolean>;
}
