#!/usr/bin/env node
import { inspect } from "node:util";
import { IdError } from "../errors.ts";
import { type Command, runCommand, type Surroundings } from "./command.ts";
import { CommandError, exitCodeOf, exitCodes } from "./exit-code.ts";
import { nodeTooOld } from "./node-version.ts";
import { wrap } from "./help.ts";

/** Name, summary and module of each command; a module is loaded only when its command is called. */
const commands: readonly (readonly [name: string, summary: string, load: () => Promise<Command>])[] = [
  ["serve", "serves IDs over gRPC, gRPC-Web and Connect", async () => (await import("./serve.ts")).serve],
  ["next", "prints new IDs", async () => (await import("./next.ts")).next],
  ["parse", "tells when and by which worker IDs were made", async () => (await import("./parse.ts")).parse],
  ["range", "prints the lowest and the highest ID of a time interval", async () => (await import("./range.ts")).range],
  ["workers", "lists which worker ID is where", async () => (await import("./workers.ts")).workers],
  [
    "workers release",
    "gives back a worker ID whose holder died",
    async () => (await import("./workers-release.ts")).workersRelease,
  ],
  [
    "workers quarantine",
    "lets a store grant nothing for a while, after it was restored",
    async () => (await import("./workers-quarantine.ts")).workersQuarantine,
  ],
  ["store copy", "moves a namespace to another store", async () => (await import("./store-copy.ts")).storeCopy],
  ["doctor", "looks whether serve would work here", async () => (await import("./doctor.ts")).doctor],
  ["layouts", "lists the preset layouts and how long each lasts", async () => (await import("./layouts.ts")).layouts],
];

const overview = `Unique, time-sorted 64-bit IDs.

Usage: snowlane COMMAND [options]

Commands:
${commands.map(([name, summary]) => `  ${name.padEnd(18)} ${summary}`).join("\n")}

snowlane COMMAND --help tells more; snowlane --version prints the version.

${wrap("Exit codes: 0 done; 1 an ID, a text or a call was refused; 2 wrong usage or configuration; 3 the address cannot be listened on; 4 the store cannot be used; 5 the store has another layout; 6 no free worker ID; 7 the clock is wrong or the layout's time has run out; 70 a fault of this program.", "")}
`;

async function main([name, ...args]: readonly string[], around: Surroundings): Promise<number> {
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    (name === undefined ? around.stderr : around.stdout).write(overview);
    return name === undefined ? exitCodes.usage : exitCodes.done;
  }
  if (name === "--version" || name === "-V") {
    around.stdout.write(`${(await import("../version.ts")).version}\n`);
    return exitCodes.done;
  }
  const tooOld = nodeTooOld(process.versions.node);
  if (tooOld !== undefined) throw new CommandError(tooOld, exitCodes.usage);
  const [second = "", ...rest] = args;
  const ofTwoWords = commands.find(([known]) => known === `${name} ${second}`);
  if (ofTwoWords !== undefined) return runCommand(await ofTwoWords[2](), rest, around);
  const further = commands.map(([known]) => known).filter((known) => known.startsWith(`${name} `));
  const found = commands.find(([known]) => known === name);
  if (found !== undefined && (further.length === 0 || !/^\w/.test(second)))
    return runCommand(await found[2](), args, around);
  const cure = further.length === 0 ? "See snowlane --help." : `There is ${further.join(", ")}.`;
  around.stderr.write(`There is no command ${JSON.stringify(`${name} ${second}`.trim())}. ${cure}\n`);
  return exitCodes.usage;
}

/** A reader that has had enough (`snowlane next -n 1000000 | head`) is no fault. */
function endQuietlyWhenClosed(stream: NodeJS.WriteStream): void {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    process.exit(error.code === "EPIPE" ? exitCodes.done : exitCodes.fault);
  });
}

/** How long after a command what it left behind may keep the process. */
const endTimeoutMs = 8_000;

/**
 * Ends a process that is done but for a thread of the embedded store, in a disk that does not answer: it would stay
 * until the disk does, and no exit() ends it either.
 */
function endWithoutThreads(): void {
  const timer = setTimeout(() => {
    if (!process.getActiveResourcesInfo().includes("MessagePort")) return;
    process.stderr.write("snowlane: The disk does not answer: ends without waiting for it.\n");
    process.kill(process.pid, "SIGKILL");
  }, endTimeoutMs);
  timer.unref();
}

endQuietlyWhenClosed(process.stdout);
endQuietlyWhenClosed(process.stderr);
const { stdin, stdout, stderr, env: environment } = process;
try {
  process.exitCode = await main(process.argv.slice(2), { stdin, stdout, stderr, environment, process });
} catch (error) {
  const message = error instanceof IdError || error instanceof CommandError ? error.message : inspect(error);
  for (const line of message.split("\n")) stderr.write(`snowlane: ${line}\n`);
  process.exitCode = exitCodeOf(error);
}
endWithoutThreads();
