/** The input that each step of a move takes, and the errors that several of them have in common. */
import type { Clock, Timers } from "../../clock/clock.ts";
import { IdError } from "../../errors.ts";
import type { WorkerRecord } from "../../lease/records/worker-record.ts";
import type { RecordStore } from "../../store/record-store.ts";

/** A store and what to call it. */
export interface MoveEnd {
  readonly store: RecordStore;
  /** For people, without credentials: 1 to 150 printable ASCII characters. */
  readonly place: string;
}

/** The two stores of a move, and whom it tells of its steps. */
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

/** A holder that stands in the way. */
export interface LiveHolder {
  readonly workerIndex: number;
  readonly record: WorkerRecord;
  /** When its time is over if it died; undefined where its lock tells that it lives. Unix milliseconds. */
  readonly untilMs: number | undefined;
}

/** Rounds against others that write at the same time: the second nearly always ends it. */
export const roundsMax = 10;

/** The error of a move that cannot be carried out. */
export function refused(message: string): IdError {
  return new IdError("INVALID_CONFIG", message);
}

/** The error of a move that another process took back meanwhile. */
export function takenBack(sourcePlace: string): IdError {
  return refused(`Another process took this copy back: ${sourcePlace} serves again. Nothing was opened.`);
}
