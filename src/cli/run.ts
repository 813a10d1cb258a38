import { inspect } from "node:util";
import { IdError } from "../errors.ts";
import { runCommand, type CommandContext } from "./command.ts";
import { loadCommands, readCommandLine } from "./commands.ts";
import { CommandError, exitCodeOf, exitCodes } from "./exit-code.ts";
import { openFileOutput } from "./file-output.ts";
import { outputError } from "./output-end.ts";
import { paintFor } from "./paint.ts";

/** Whether the command goes on where standard output cannot be written. */
let outlivesOutput = false;

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
    case "command": {
      const command = await request.entry.load();
      outlivesOutput = command.outlivesOutput === true;
      return await runCommand(command, request.args, context);
    }
  }
}

/**
 * Ends a command whose output cannot be written. A reader that stops early (`snowlane next -n 1000000 | head`) is not a
 * fault. Everything else, such as a full disk, is one: only a part of the output has been written.
 */
function endWithoutOutput(error: NodeJS.ErrnoException): never {
  const fault = outputError(error);
  if (fault === undefined) process.exit(exitCodes.done);
  process.stderr.write(`snowlane: ${fault.message}\n`);
  process.exit(fault.exitCode);
}

/** How long after a command anything but a thread may keep the process alive, and how long a thread may. */
const [restTimeoutMs, threadTimeoutMs] = [200, 8_000];

/**
 * Ends a process that has finished, except for something that waits: the exporter of traces waits ten seconds for its
 * receiver, and a thread of the embedded store for a disk that does not answer. exit() does not end such a thread.
 */
function endWithoutWaiting(): void {
  const rest = setTimeout(() => {
    if (!hasThread()) process.exit();
  }, restTimeoutMs);
  const thread = setTimeout(() => {
    if (!hasThread()) return;
    process.stderr.write("snowlane: The disk does not answer: the process ends without waiting for it.\n");
    process.kill(process.pid, "SIGKILL");
  }, threadTimeoutMs);
  for (const timer of [rest, thread]) timer.unref();
}

function hasThread(): boolean {
  return process.getActiveResourcesInfo().includes("MessagePort");
}

/** Runs the command line of this process, and says what went wrong. */
export async function run(): Promise<void> {
  const { argv, stdin, stderr, env: environment } = process;
  const stdout = openFileOutput(process.stdout.fd) ?? process.stdout;
  stdout.on("error", (error) => {
    if (!outlivesOutput) endWithoutOutput(error);
  });
  // Without a listener Node opens a debugger for every user of the machine (docs/adr/0197). serve has one that says so.
  process.on("SIGUSR1", () => {});
  // The process does not end because its messages cannot be read.
  stderr.on("error", () => {});
  try {
    process.exitCode = await main(argv.slice(2), { stdin, stdout, stderr, environment, process, loadCommands });
  } catch (error) {
    const message = error instanceof IdError || error instanceof CommandError ? error.message : inspect(error);
    const name = paintFor(stderr, environment)("bad", "snowlane:");
    for (const line of message.split("\n")) stderr.write(`${name} ${line}\n`);
    process.exitCode = exitCodeOf(error);
  }
  endWithoutWaiting();
}
