import { Readable, Writable } from "node:stream";
import { runCommand } from "../../src/cli/command.ts";
import { loadCommands, readCommandLine } from "../../src/cli/commands.ts";
import { CommandError, exitCodeOf, exitCodes } from "../../src/cli/exit-code.ts";
import { IdError } from "../../src/errors.ts";

/** How a command line ended in this process. */
export interface InProcessOutcome {
  readonly code: number;
  readonly stdout: string;
  /** The text written to standard error, and the message of the error that ended the command. */
  readonly stderr: string;
  /** An error that is not a refusal: a fault of the program. */
  readonly fault?: unknown;
}

/** Runs a command line in this process, which takes a millisecond: for commands that start no server. */
export async function runInProcess(
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<InProcessOutcome> {
  const [stdout, stderr] = [new Sink(), new Sink()];
  const context = { stdin: Readable.from([]), stdout, stderr, environment, process, loadCommands };
  const request = readCommandLine(words);
  if (request.kind === "unknown") return { code: exitCodes.usage, stdout: "", stderr: request.message };
  if (request.kind !== "command")
    return { code: exitCodes.done, stdout: "text" in request ? request.text : "", stderr: "" };
  try {
    const code = await runCommand(await request.entry.load(), request.args, context);
    return { code, stdout: stdout.text, stderr: stderr.text };
  } catch (error) {
    const code = exitCodeOf(error);
    if (!(error instanceof IdError || error instanceof CommandError)) {
      return { code, stdout: stdout.text, stderr: stderr.text, fault: error };
    }
    return { code, stdout: stdout.text, stderr: `${stderr.text}${error.message}` };
  }
}

class Sink extends Writable {
  text = "";

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}
