import { inspect } from "node:util";
import { IdError } from "../errors.ts";
import { runCommand, type CommandContext } from "./command.ts";
import { loadCommands, readCommandLine } from "./commands.ts";
import { CommandError, exitCodeOf, exitCodes } from "./exit-code.ts";
import { paintFor } from "./paint.ts";

async function main(words: readonly string[], context: CommandContext): Promise<number> {
  const request = readCommandLine(words);
  switch (request.kind) {
    case "overview":
      context.stdout.write(request.text);
      return exitCodes.done;
    case "nothing":
      context.stderr.write(request.text);
      return exitCodes.usage;
    case "version":
      context.stdout.write(`${(await import("../version.ts")).version}\n`);
      return exitCodes.done;
    case "unknown":
      throw new CommandError(request.message, exitCodes.usage);
    case "command":
      return await runCommand(await request.entry.load(), request.args, context);
  }
}

/** A reader that stops early (`snowlane next -n 1000000 | head`) is no fault. */
function endQuietlyWhenClosed(stream: NodeJS.WriteStream): void {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    process.exit(error.code === "EPIPE" ? exitCodes.done : exitCodes.fault);
  });
}

/** How long after a command its remaining threads may keep the process alive. */
const endTimeoutMs = 8_000;

/**
 * Ends a process that has finished except for a thread of the embedded store, which waits for a disk that does not
 * answer. The process would stay until the disk answers, and exit() does not end it either.
 */
function endWithoutThreads(): void {
  const timer = setTimeout(() => {
    if (!process.getActiveResourcesInfo().includes("MessagePort")) return;
    process.stderr.write("snowlane: The disk does not answer: the process ends without waiting for it.\n");
    process.kill(process.pid, "SIGKILL");
  }, endTimeoutMs);
  timer.unref();
}

/** Runs the command line of this process, and says what went wrong. */
export async function run(): Promise<void> {
  const { argv, stdin, stdout, stderr, env: environment } = process;
  endQuietlyWhenClosed(stdout);
  endQuietlyWhenClosed(stderr);
  try {
    process.exitCode = await main(argv.slice(2), { stdin, stdout, stderr, environment, process, loadCommands });
  } catch (error) {
    const message = error instanceof IdError || error instanceof CommandError ? error.message : inspect(error);
    const name = paintFor(stderr, environment)("bad", "snowlane:");
    for (const line of message.split("\n")) stderr.write(`${name} ${line}\n`);
    process.exitCode = exitCodeOf(error);
  }
  endWithoutThreads();
}
