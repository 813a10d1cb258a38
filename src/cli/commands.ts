import { nearest } from "../config/suggestion.ts";
import type { Command } from "./command.ts";
import { wrap } from "./help.ts";

/** A command's name and summary; its module is loaded only when the command is called. */
interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  load(): Promise<Command>;
}

/** All commands, in the order in which the overview lists them. */
const commands: readonly CommandEntry[] = [
  {
    name: "serve",
    summary: "serves IDs over gRPC, gRPC-Web and Connect",
    load: async () => (await import("./serve.ts")).serve,
  },
  { name: "next", summary: "prints new IDs", load: async () => (await import("./ids/next.ts")).next },
  {
    name: "parse",
    summary: "prints when and by which worker each ID was made",
    load: async () => (await import("./ids/parse.ts")).parse,
  },
  {
    name: "range",
    summary: "prints the lowest and the highest ID of a time interval",
    load: async () => (await import("./ids/range.ts")).range,
  },
  {
    name: "audit",
    summary: "reports duplicates in logs or columns, and IDs that do not belong there",
    load: async () => (await import("./audit/audit.ts")).audit,
  },
  {
    name: "backfill",
    summary: "gives existing rows IDs with their own times",
    load: async () => (await import("./backfill/backfill.ts")).backfill,
  },
  {
    name: "sql",
    summary: "prints SQL functions with which a database reads IDs",
    load: async () => (await import("./sql/sql.ts")).sql,
  },
  {
    name: "workers",
    summary: "lists the worker IDs with their holders",
    load: async () => (await import("./workers/workers.ts")).workers,
  },
  {
    name: "workers release",
    summary: "gives back a worker ID whose holder died",
    load: async () => (await import("./workers/workers-release.ts")).workersRelease,
  },
  {
    name: "workers quarantine",
    summary: "keeps a store from granting worker IDs for a while, after a restore",
    load: async () => (await import("./workers/workers-quarantine.ts")).workersQuarantine,
  },
  {
    name: "sql numbers",
    summary: "prints a table and a statement for gapless numbers",
    load: async () => (await import("./sql/sql-numbers.ts")).sqlNumbers,
  },
  {
    name: "sequences",
    summary: "lists the sequences",
    load: async () => (await import("./sequences/sequences.ts")).sequences,
  },
  {
    name: "sequences create",
    summary: "creates a sequence",
    load: async () => (await import("./sequences/sequences-create.ts")).sequencesCreate,
  },
  {
    name: "sequences get",
    summary: "prints one sequence",
    load: async () => (await import("./sequences/sequences-get.ts")).sequencesGet,
  },
  {
    name: "sequences update",
    summary: "changes a sequence",
    load: async () => (await import("./sequences/sequences-update.ts")).sequencesUpdate,
  },
  {
    name: "sequences next",
    summary: "prints new values of a sequence",
    load: async () => (await import("./sequences/sequences-next.ts")).sequencesNext,
  },
  {
    name: "sequences import",
    summary: "takes over counters of another program",
    load: async () => (await import("./sequences/sequences-import.ts")).sequencesImport,
  },
  {
    name: "sequences add-database",
    summary: "gives one more database a share of the values",
    load: async () => (await import("./sequences/sequences-add-database.ts")).sequencesAddDatabase,
  },
  {
    name: "sequences copy",
    summary: "moves the sequences to another database",
    load: async () => (await import("./sequences/sequences-copy.ts")).sequencesCopy,
  },
  {
    name: "sequences adopt-database",
    summary: "replaces a lost database with another one",
    load: async () => (await import("./sequences/sequences-adopt-database.ts")).sequencesAdoptDatabase,
  },
  {
    name: "sequences prune",
    summary: "deletes counters of old periods, permanently",
    load: async () => (await import("./sequences/sequences-prune.ts")).sequencesPrune,
  },
  {
    name: "sequences servers",
    summary: "lists the servers that took values",
    load: async () => (await import("./sequences/sequences-servers.ts")).sequencesServers,
  },
  {
    name: "sequences stop",
    summary: "stops a database of sequences for every server",
    load: async () => (await import("./sequences/sequences-stop.ts")).sequencesStop,
  },
  {
    name: "sequences raise",
    summary: "raises counters, after a database went back",
    load: async () => (await import("./sequences/sequences-raise.ts")).sequencesRaise,
  },
  {
    name: "sequences open",
    summary: "opens a stopped database of sequences again",
    load: async () => (await import("./sequences/sequences-open.ts")).sequencesOpen,
  },
  {
    name: "store copy",
    summary: "moves a namespace to another store",
    load: async () => (await import("./store/store-copy.ts")).storeCopy,
  },
  {
    name: "doctor",
    summary: "checks whether serve would work here",
    load: async () => (await import("./doctor/doctor.ts")).doctor,
  },
  {
    name: "token",
    summary: "creates a token for a caller of a server with --principals",
    load: async () => (await import("./server/token.ts")).token,
  },
  {
    name: "whoami",
    summary: "shows what a token may do at a server",
    load: async () => (await import("./server/whoami.ts")).whoami,
  },
  {
    name: "status",
    summary: "shows the state of a server, and what it did in the last five minutes",
    load: async () => (await import("./server/status.ts")).status,
  },
  {
    name: "health",
    summary: "asks a server whether it serves, for probes",
    load: async () => (await import("./server/health.ts")).health,
  },
  {
    name: "completions",
    summary: "prints the completion script of a shell",
    load: async () => (await import("./completions/completions.ts")).completions,
  },
  {
    name: "layouts",
    summary: "lists the preset layouts and how long each lasts",
    load: async () => (await import("./ids/layouts.ts")).layouts,
  },
];

/** Loads all commands. */
export async function loadCommands(): Promise<readonly Command[]> {
  return await Promise.all(commands.map((entry) => entry.load()));
}

/** The request of a command line, read from its first words. */
export type CommandRequest =
  | { readonly kind: "command"; readonly entry: CommandEntry; readonly args: readonly string[] }
  /** The help of the whole program, or of the commands that begin with one word. */
  | { readonly kind: "overview"; readonly text: string }
  | { readonly kind: "version" }
  | { readonly kind: "nothing"; readonly text: string }
  | { readonly kind: "unknown"; readonly message: string };

/** Reads the words after `snowlane`. */
export function readCommandLine(words: readonly string[]): CommandRequest {
  const [name, second = "", ...rest] = words;
  if (name === undefined) return { kind: "nothing", text: overview };
  if (name === "--version" || name === "-V" || name === "version") return { kind: "version" };
  if (isHelp(name))
    return second === "" || isHelp(second) ? { kind: "overview", text: overview } : helpOf(words.slice(1));
  const ofTwoWords = commands.find((entry) => entry.name === `${name} ${second}`);
  if (ofTwoWords !== undefined) return { kind: "command", entry: ofTwoWords, args: rest };
  const further = commands.filter((entry) => entry.name.startsWith(`${name} `));
  const entry = commands.find((candidate) => candidate.name === name);
  if (entry !== undefined && (further.length === 0 || !/^\w/.test(second)))
    return { kind: "command", entry, args: words.slice(1) };
  if (further.length > 0 && isHelp(second)) return { kind: "overview", text: overviewOf(further) };
  return unknown(name, second, further);
}

/** `help serve` is `serve --help`, and `help store copy` is `store copy --help`. */
function helpOf(words: readonly string[]): CommandRequest {
  const isOfTwo = commands.some(({ name }) => name === words.slice(0, 2).join(" "));
  return readCommandLine([...words.slice(0, isOfTwo ? 2 : 1), "--help"]);
}

function isHelp(word: string): boolean {
  return word === "--help" || word === "-h" || word === "help";
}

function unknown(name: string, second: string, further: readonly CommandEntry[]): CommandRequest {
  const isWord = /^\w/.test(second);
  if (name === "-v" || name === "-V") {
    const message = `There is no flag ${name} for all commands. Did you mean --version?`;
    return { kind: "unknown", message: `${message} See snowlane --help.` };
  }
  const written = isWord && further.length > 0 ? `${name} ${second}` : name;
  const near = nearest(written, [...commands.map((entry) => entry.name), "help", "version"]);
  const guess = near === undefined ? "" : ` Did you mean ${near}?`;
  const others = further.map((entry) => entry.name).join(", ");
  const hint = further.length > 0 && near === undefined ? ` There is ${others}.` : guess;
  return { kind: "unknown", message: `There is no command ${JSON.stringify(written)}.${hint} See snowlane --help.` };
}

const overview = `Unique, time-sorted 64-bit IDs.

Usage: snowlane COMMAND [options]

${listOf(commands)}

snowlane COMMAND --help shows more; snowlane --version prints the version.

${wrap("Exit codes: 0 done; 1 an ID, a text or a call was refused; 2 wrong usage or configuration; 3 the address cannot be listened on; 4 the store cannot be used; 5 the store has another layout; 6 no free worker ID; 7 the clock is wrong or the layout's time has run out; 70 a fault of this program.", "")}
`;

function overviewOf(entries: readonly CommandEntry[]): string {
  return `${listOf(entries)}\n\nsnowlane COMMAND --help shows more; snowlane --help lists all commands.\n`;
}

function listOf(entries: readonly CommandEntry[]): string {
  const column = Math.max(...entries.map(({ name }) => name.length)) + 2;
  return `Commands:\n${entries.map(({ name, summary }) => `  ${name.padEnd(column)}${summary}`).join("\n")}`;
}
