/** The parts of a move, which each of its steps takes. */
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

/** The parts of a move. */
export interface MoveParts {
  readonly source: MoveEnd;
  readonly target: MoveEnd;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random128: () => string;
  /** Told of each step that was begun. */
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
