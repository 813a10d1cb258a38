import { randomBytes } from "node:crypto";
import {
  appendFileSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Client, type ClientConfig } from "pg";
import { findTool, type Tool } from "../fetch/tools.ts";
import { fetchOnce } from "../fetch/user-cache.ts";
import { runCommand } from "../processes/run-command.ts";
import { TestServer } from "./test-server.ts";

/** `nobody`: PostgreSQL refuses root. */
export const nobody = 65_534;

/**
 * Starts PostgreSQL 15 with a superuser `postgres` without password.
 *
 * @param environment - Laid over that of the server.
 */
export function startPostgres(
  args: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Promise<TestServer> {
  return startWith(args, async () => {}, environment);
}

/**
 * Starts a standby: on a copy of a primary's data, which it follows from then on.
 *
 * @param how - `port`: by which it reaches the primary. `args`: its own; they count when it is promoted, too.
 */
export function startStandby(
  primary: TestServer,
  { port = primary.port, args = [] }: { readonly port?: number; readonly args?: readonly string[] } = {},
): Promise<TestServer> {
  return startWith(args, (folder) => becomeStandby(folder, primary, port));
}

/** Kills a server and starts it as a standby on a new copy of a primary's data, which it reaches by `port`. */
export async function followAnew(server: TestServer, primary: TestServer, port: number): Promise<void> {
  await server.kill();
  await becomeStandby(server.dataFolder, primary, port);
  await server.restart();
}

async function becomeStandby(folder: string, primary: TestServer, port: number): Promise<void> {
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
  await primary.copyInto(folder);
  rmSync(join(folder, "postmaster.pid"), { force: true });
  appendFileSync(
    join(folder, "postgresql.auto.conf"),
    `primary_conninfo = 'host=127.0.0.1 port=${port} user=postgres'\n`,
  );
  writeFileSync(join(folder, "standby.signal"), "");
}

/** A PostgreSQL whose write-ahead log is archived, and copies of its data from which it can be recovered. */
export interface ArchivedPostgres {
  readonly server: TestServer;
  /** Copies its data aside, as a base backup. */
  backUp(): Promise<void>;
  /** Starts another server on that copy, which replays the archive up to a restore point and then takes writes. */
  recoverTo(restorePoint: string): Promise<TestServer>;
  /** Deletes archive and copy. */
  removeFiles(): void;
}

/** Starts PostgreSQL with an archive. `pg_create_restore_point` names a point in time. */
export async function startArchivedPostgres(): Promise<ArchivedPostgres> {
  const base = mkdtempSync(join(tmpdir(), "snowlane-archive-"));
  const [archive, copy] = [join(base, "wal"), join(base, "copy")];
  for (const folder of [archive, copy]) mkdirSync(folder);
  if (process.getuid?.() === 0) for (const folder of [base, archive]) chownSync(folder, nobody, nobody);
  const server = await startPostgres(["-c", "archive_mode=on", "-c", `archive_command=cp %p ${archive}/%f`]);
  return {
    server,
    backUp: () => server.copyInto(copy),
    recoverTo: (restorePoint) =>
      startWith([], async (folder) => {
        rmSync(folder, { recursive: true });
        await runCommand("cp", ["-a", copy, folder]);
        rmSync(join(folder, "postmaster.pid"), { force: true });
        appendFileSync(
          join(folder, "postgresql.auto.conf"),
          `restore_command = 'cp ${archive}/%f %p'\nrecovery_target_name = '${restorePoint}'\n` +
            "recovery_target_action = 'promote'\n",
        );
        writeFileSync(join(folder, "recovery.signal"), "");
      }),
    removeFiles: () => rmSync(base, { recursive: true, force: true }),
  };
}

/** @param change - Changes the data of a new server before it starts. */
async function startWith(
  args: readonly string[],
  change: (folder: string) => Promise<void>,
  environment: Readonly<Record<string, string>> = {},
): Promise<TestServer> {
  const tool = await findTool("postgres");
  const userId = process.getuid?.() === 0 ? nobody : undefined;
  let programs = dirname(realpathSync(tool.path));
  return TestServer.start({
    name: "postgres",
    userId,
    prepare: async (folder) => {
      if (userId !== undefined && !isOpenToAll(programs)) programs = await copyPrograms(programs, dirname(folder));
      await initialise({ programs, env: tool.env, userId }, folder);
      await change(folder);
    },
    command: async (folder, port) => {
      // Without fsync a test is faster; kill -9 of the server loses nothing, as the kernel lives on.
      // Its shared memory lies in its own folder, because a killed server leaves it behind in /dev/shm.
      const settings = [
        "listen_addresses=127.0.0.1",
        "fsync=off",
        "dynamic_shared_memory_type=mmap",
        "timezone=GMT",
        "log_timezone=GMT",
      ];
      return {
        path: join(programs, "postgres"),
        env: { ...tool.env, ...environment },
        args: ["-D", folder, "-p", `${port}`, "-k", folder, ...settings.flatMap((setting) => ["-c", setting]), ...args],
      };
    },
    isReady: answersQueries,
    url: (port) => `postgres://postgres@127.0.0.1:${port}/postgres`,
  });
}

/** Whether a server, or a pooler before it, answers a query. @throws What kept it from that. */
export async function answersQueries(port: number): Promise<boolean> {
  const client = new Client({ ...connection(port), connectionTimeoutMillis: 1_000, query_timeout: 1_000 });
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query("SELECT 1");
    return true;
  } finally {
    await client.end().catch(() => {});
  }
}

function connection(port: number): ClientConfig {
  return { host: "127.0.0.1", port, user: "postgres", database: "postgres" };
}

/** Where PostgreSQL's programs are, and how they are run. */
interface Programs {
  readonly programs: string;
  readonly env: Tool["env"];
  readonly userId: number | undefined;
}

/** Makes the data of a new server: a copy of what initdb made once, with a system identifier of its own. */
async function initialise(how: Programs, folder: string): Promise<void> {
  await runCommand("cp", ["-a", "--reflink=auto", `${await firstData(how)}/.`, folder]);
  // The first eight bytes are the identifier, below 2^63. Its checksum is then wrong, and pg_resetwal takes the values
  // all the same, as it is forced to.
  const control = join(folder, "global", "pg_control");
  const bytes = readFileSync(control);
  bytes.writeBigUInt64LE(randomBytes(8).readBigUInt64LE() >> 1n);
  writeFileSync(control, bytes);
  await runProgram(how, "pg_resetwal", ["-f", "-D", folder], folder);
}

/** The data that initdb makes: it takes two seconds of a processor, so it is made once for each version. */
async function firstData(how: Programs): Promise<string> {
  const version = await runCommand(join(how.programs, "initdb"), ["--version"], { env: how.env });
  const base = await fetchOnce(`postgres-data-${/ (\d\S*)/.exec(version)?.[1] ?? "unknown"}`, async (base) => {
    // The cache may lie where the server's user may not go.
    const made = mkdtempSync(join(tmpdir(), "snowlane-initdb-"));
    try {
      if (how.userId !== undefined) chownSync(made, how.userId, how.userId);
      const args = ["-D", made, "-A", "trust", "-U", "postgres", "--no-locale", "--encoding=UTF8", "--no-sync"];
      await runProgram(how, "initdb", args, made);
      await runCommand("cp", ["-a", made, join(base, "data")]);
    } finally {
      rmSync(made, { recursive: true, force: true });
    }
  });
  return join(base, "data");
}

async function runProgram(how: Programs, name: string, args: readonly string[], cwd: string): Promise<void> {
  const { programs, env, userId } = how;
  const user =
    userId === undefined ? [] : ["setpriv", `--reuid=${userId}`, `--regid=${userId}`, "--clear-groups", "--"];
  const [command = "", ...rest] = [...user, join(programs, name), ...args];
  await runCommand(command, rest, { cwd, env });
}

/** Whether other users may reach a folder: root's own home is closed to them, and the cache may lie in it. */
function isOpenToAll(folder: string): boolean {
  for (let path = folder; ; path = dirname(path)) {
    if ((statSync(path).mode & 0o001) === 0) return false;
    if (path === dirname(path)) return true;
  }
}

/**
 * `…/usr/lib/postgresql/15/bin` finds its own files relative to that path, so the tree under `usr` is copied as a
 * whole.
 */
async function copyPrograms(programs: string, base: string): Promise<string> {
  const root = programs.slice(0, programs.lastIndexOf("/usr/lib/postgresql/"));
  // As further names of the same files: a copy of all takes seconds, and is needed only on another file system.
  const [from, to] = [`${join(root, "usr")}/.`, join(base, "usr")];
  mkdirSync(to);
  await runCommand("cp", ["-al", from, to]).catch(() => runCommand("cp", ["-a", from, to]));
  await runCommand("chmod", ["755", base]);
  return join(base, programs.slice(root.length));
}
