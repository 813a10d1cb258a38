/** The input that each step of a move takes, and the errors that several of them have in common. */
import type { Clock, Timers } from "../../clock/clock.ts";
import { IdError } from "../../errors.ts";
import type { WorkerRecord } from "../../lease/records/worker-record.ts";
import type { RecordStore } from "../../store/record-store.ts";

/** A store, and its name in messages. */
export interface MoveEnd {
  readonly store: RecordStore;
  /** For people, without credentials: 1 to 150 printable ASCII characters. */
  readonly place: string;
}

/** The two stores of a move, and where it reports its steps. */
export interface MoveParts {
  /** The store that holds the namespace when the move begins. */
  readonly source: MoveEnd;
  /** The store that holds it when the move is complete. */
  readonly target: MoveEnd;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Draws 128 bits from the kernel, as 32 hex digits. */
  readonly random128: () => string;
  /** Called with each step that was begun, in words for people. */
  readonly report: (step: string) => void;
}

/** A holder that is alive and so stops the move. */
export interface LiveHolder {
  readonly workerIndex: number;
  readonly record: WorkerRecord;
  /** When its time is over if it died; undefined if its lock shows that it is alive. Unix milliseconds. */
  readonly untilMs: number | undefined;
}

/**
 * How many rounds of compare-and-set are made; other processes write at the same time, and the second round is nearly
 * always the last.
 */
export const roundsMax = 10;

/** The error of a move that cannot be carried out. */
export function refused(message: string): IdError {
  return new IdError("INVALID_CONFIG", message);
}

/** The error of a move that another process took back meanwhile. */
export function takenBack(sourcePlace: string): IdError {
  return refused(`Another process undid this copy: ${sourcePlace} serves again. Nothing was opened.`);
}
