import type { Writable } from "node:stream";
import { CommandError, exitCodes } from "./exit-code.ts";

/** Standard output, for a command that must put something in order before it ends. */
export interface OutputEnd {
  /** Aborted when the output cannot be written any more. */
  readonly signal: AbortSignal;
  /**
   * Does nothing where the reader stopped early (`| head`), which is not a fault.
   *
   * @throws CommandError where the output was lost, for example on a full disk.
   */
  check(): void;
}

/** Makes the error of an output that could not be written; undefined where its reader stopped early. */
export function outputError({ code, message }: NodeJS.ErrnoException): CommandError | undefined {
  if (code === "EPIPE") return undefined;
  return new CommandError(`The output cannot be written: ${message}.`, exitCodes.refused);
}

/** Watches an output. The command that does so has `outlivesOutput`. */
export function watchOutput(stdout: Writable): OutputEnd {
  const end = new AbortController();
  let fault: CommandError | undefined;
  stdout.on("error", (error) => {
    fault ??= outputError(error);
    end.abort();
  });
  return {
    signal: end.signal,
    check: () => {
      if (fault !== undefined) throw fault;
    },
  };
}
