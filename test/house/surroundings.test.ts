import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { expect, test } from "vitest";

/**
 * Each place of src/ where the system can refuse a server something (EMFILE, ENOSPC, EPIPE, EIO), or where the process
 * ends: files, connections, and parts of the program that are loaded later. A new place fails this test until the table
 * says what happens there. test/cli/surroundings.test.ts and `npm run test:faults` run servers whose system refuses.
 */
const places = {
  end: /\bprocess\.(?:exit|kill|abort)\(/g,
  error: /\.(?:on|once)\("error",/g,
  file: /(?<![.\w#])(?:open|read|write|readdir|readlink|stat|lstat|fstat|statfs|access|mkdir|mkdtemp|rename|rm|unlink|exists)(?:File)?Sync\(|\bcreate(?:Read|Write)Stream\(|(?<![.\w#])(?:readFile|writeFile|readdir|rename|rm)\(|new (?:sqlite\.)?DatabaseSync\(/g,
  load: /(?<![.\w])import\(/g,
  connection: /new Socket\(|\bconnect(?:Tcp|Tls)\(|(?<![.\w#])connect\((?:path|socketPath)\b|\brequestHttps;/g,
  thread: /new Worker\(/g,
  server: /(?<![.\w#])create(?:Http1|Http2|Secure)?Server\(/g,
} as const;

type Kind = keyof typeof places;

/** What happens at the places of a file where the system refuses; the file by its name. */
const answers: Readonly<Record<string, { readonly [K in Kind]?: number } & { readonly effect: string }>> = {
  // Ends of the process.
  "run.ts": {
    end: 4,
    error: 2,
    effect: "A command ends without its output: with 0 where its reader left, else with 1. A server never does.",
  },
  "serve.ts": {
    end: 2,
    effect: "A broken invariant ends the process, so that no further ID is issued; no error of the system is one.",
  },
  "stop-signal.ts": { end: 2, effect: "A second signal ends the process, which its operator wanted." },
  // Output.
  "output-end.ts": { error: 1, effect: "A command that asks again and again ends with its reader." },
  "file-output.ts": { file: 2, effect: "A short write goes on; a failed one ends the command with 1." },
  "issue-log.ts": {
    file: 2,
    effect: "At the start: exit 2. Later the call fails with the system's error, and its IDs are not given out.",
  },
  // The store.
  "kernel-random.ts": {
    file: 2,
    effect: "STORE_UNAVAILABLE: a renewal is tried again. It is open from the first grant on.",
  },
  "thread-link.ts": {
    error: 1,
    thread: 1,
    file: 1,
    effect: "STORE_UNAVAILABLE, and the next open starts a thread again.",
  },
  "store-file.ts": { file: 6, effect: "A failed transaction: the store does not answer this time." },
  "file-identity.ts": { file: 2, effect: "In the thread of the store: the call fails as the store's." },
  "file-names.ts": { file: 4, effect: "At the opening of the store: the start tries again for ten seconds." },
  "lock-files.ts": { file: 1, effect: "The lock is not taken: another try follows." },
  "lock-owner.ts": { file: 2, effect: "The message does not name the process." },
  "make-folder.ts": { file: 2, effect: "The start is refused with a sentence." },
  "import-rows.ts": { file: 2, effect: "A command, not a server: exit 4." },
  "resume-folder.ts": {
    file: 8,
    effect: "The resume record is given up: a crash then needs the store. A removal that fails is tried again.",
  },
  "open-worker.ts": { file: 1, effect: "No boot ID: no resume record is gone on from." },
  "remote-url.ts": { file: 1, effect: "The connection to the store fails, and the start or the next try says why." },
  "kubernetes-api.ts": { file: 1, error: 2, connection: 1, effect: "STORE_UNAVAILABLE: a failed call of the store." },
  "mysql-link.ts": {
    error: 1,
    connection: 1,
    load: 1,
    effect: "The connection is over: a failed call of the store, and another connection.",
  },
  "postgres-link.ts": {
    error: 3,
    connection: 2,
    load: 1,
    effect: "The connection is over: a failed call of the store, and another connection.",
  },
  "redis-link.ts": {
    error: 2,
    load: 1,
    effect: "The connection is over: a failed call of the store, and another connection.",
  },
  "zookeeper-connection.ts": {
    error: 1,
    connection: 2,
    effect: "The connection is over: a failed call of the store, and another connection.",
  },
  // Settings.
  "audit-input.ts": { file: 4, effect: "In a command: exit 1, with the name of the file." },
  "id-sorter.ts": { file: 4, effect: "In a command: exit 1; a full folder is named." },
  "help.ts": { file: 1, effect: "The help names the source in place of the folder." },
  "backfill-file.ts": { file: 6, effect: "In a command: exit 1; nothing is claimed, or the claim is wasted." },
  "whole-file.ts": { file: 3, error: 1, effect: "In a command: exit 1; no file is left under the name of --out." },
  "secret-file.ts": { file: 1, effect: "A file that cannot be looked at is refused as one that cannot be read." },
  "store-file-setting.ts": { file: 1, effect: "At the start: exit 2." },
  "token.ts": { file: 1, effect: "A command, not a server: exit 2." },
  "config-file.ts": { file: 1, effect: "At the start: exit 2." },
  "server-access.ts": { file: 1, effect: "A command, not a server: exit 2." },
  "tls.ts": { file: 1, server: 1, effect: "The earlier certificate stays, and the log says so each minute." },
  "principal-file.ts": { file: 2, effect: "The earlier principals stay, and the log says so each minute." },
  // Connections.
  "listener.ts": {
    error: 3,
    server: 1,
    effect: "EMFILE: the connection is refused, and counted as full. Another error is logged; the server goes on.",
  },
  "connection-server.ts": { error: 1, server: 1, effect: "The connection is over." },
  "http1-call.ts": { error: 2, effect: "The call is over." },
  "http2-sockets.ts": { error: 1, effect: "The connection is over." },
  "node-exchange.ts": { error: 2, effect: "The call is over." },
  "node-http2.ts": { server: 1, effect: "It never listens itself." },
  "stale-socket.ts": {
    file: 2,
    error: 1,
    connection: 1,
    effect: "The socket is not removed: binding it says why, exit 3.",
  },
  "health.ts": { error: 2, effect: "A command, not a server: exit 1." },
  "server-transport.ts": { connection: 1, effect: "A command, not a server: its call fails." },
  // Parts that are loaded later.
  "start-server.ts": { load: 3, effect: "At the start: it ends with a sentence." },
  "open-guards.ts": { load: 2, effect: "At the start: it ends with a sentence." },
  "open-store.ts": { load: 7, effect: "At the start: it ends with a sentence." },
  "serve-calls.ts": { load: 1, effect: "The scrape is 500, and the next one loads it again." },
  "dispatch.ts": { load: 1, effect: "500, and the next request loads it again." },
  "sequences.ts": { load: 5, effect: "STORE_UNAVAILABLE, and the next call loads them again." },
  "open-sequence-store.ts": { load: 3, effect: "STORE_UNAVAILABLE, and the next call loads it again." },
  // Pages and metrics.
  "page-files.ts": { file: 1, effect: "500, and the next request reads the file again." },
  "open-files.ts": { file: 2, effect: "The metric is absent." },
  // Checks.
  "doctor.ts": { file: 6, effect: "A command, not a server: the finding says it." },
  "doctor-machine.ts": { file: 2, error: 1, server: 1, effect: "A command, not a server: the finding says it." },
  "doctor-access.ts": { file: 2, effect: "A command, not a server: the finding says it." },
};

test("each place where the system can refuse a server something has an answer", () => {
  const tracked = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "src"], { encoding: "utf8" }).split(
    "\n",
  );
  const found: Record<string, Partial<Record<Kind, number>>> = {};
  for (const path of tracked.filter((name) => /(?<!\.test)\.ts$/.test(name) && !name.includes("/gen/"))) {
    const code = readFileSync(path, "utf8").replaceAll(/^\s*(?:\*|\/\/|\/\*).*$/gm, "");
    for (const [kind, pattern] of Object.entries(places) as [Kind, RegExp][]) {
      // A command loads its parts before it does anything.
      if (kind === "load" && path.startsWith("src/cli/")) continue;
      const count = code.match(pattern)?.length ?? 0;
      if (count > 0) found[basename(path)] = { ...found[basename(path)], [kind]: count };
    }
  }
  const answered = Object.entries(answers).map(([name, { effect, ...counts }]) => {
    expect(effect).not.toBe("");
    return [name, counts] as const;
  });
  expect(found).toEqual(Object.fromEntries(answered));
});
