import { type ErrorReason, IdError } from "../errors.ts";

/** The exit codes of the process and their meaning: the table of docs/cli.md. */
export const exitCodes = {
  done: 0,
  /** The input cannot be read, or a server refused. */
  refused: 1,
  /** Wrong usage or configuration. */
  usage: 2,
  /** The address cannot be listened on. */
  address: 3,
  /** The store does not answer, cannot be opened or written, is damaged or another program's, or has lost data. */
  store: 4,
  /** The store was set up with another layout. */
  layout: 5,
  /** Every worker ID is held or quarantined; or a change of sequences waits for a raise, or for servers to see it. */
  held: 6,
  /** The clock is wrong, or the layout's time has run out. */
  clock: 7,
  /** A fault of this program. As EX_SOFTWARE of sysexits.h. */
  fault: 70,
} as const;

/** One of {@link exitCodes}. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** A failure of a command for which no reason of {@link IdError} fits. Its message says what to do about it. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode) {
    super(message);
    this.exitCode = exitCode;
  }
}

const codeOfReason: Partial<Record<ErrorReason, ExitCode>> = {
  INVALID_CONFIG: exitCodes.usage,
  INVALID_LAYOUT: exitCodes.usage,
  INVALID_SEQUENCE: exitCodes.usage,
  STORE_UNAVAILABLE: exitCodes.store,
  STORE_WENT_BACK: exitCodes.store,
  LAYOUT_MISMATCH: exitCodes.layout,
  NO_FREE_WORKER_ID: exitCodes.held,
  CLOCK_BEFORE_EPOCH: exitCodes.clock,
  CLOCK_ROLLED_BACK: exitCodes.clock,
  TIMESTAMP_EXHAUSTED: exitCodes.clock,
};

/** Gives the exit code for an error that a command threw. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CommandError) return error.exitCode;
  if (!(error instanceof IdError)) return exitCodes.fault;
  // The setting is well written, but the store that it names, or a record in it, is not one of ours.
  const { store, record } = error.metadata;
  if (error.reason === "INVALID_CONFIG" && (store ?? record) !== undefined) return exitCodes.store;
  return codeOfReason[error.reason] ?? exitCodes.refused;
}
