import { join, dirname } from "node:path";
import { findTool } from "../fetch/tools.ts";
import { runCommand } from "../processes/run-command.ts";

/**
 * Dumps the database of a URL by pg_dump or, for MariaDB and MySQL, mariadb-dump. The dump makes its tables
 * again where it is put back.
 */
export function dumpDatabase(url: string): Promise<string> {
  if (isPostgres(url)) return runPostgres("pg_dump", ["--clean", "--if-exists", url], "");
  return runMariadb("mariadb-dump", url, "");
}

/** Puts a dump into the database of a URL, by psql or mariadb. */
export async function putDump(url: string, dump: string): Promise<void> {
  if (isPostgres(url)) await runPostgres("psql", ["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", url], dump);
  else await runMariadb("mariadb", url, dump);
}

function isPostgres(url: string): boolean {
  return url.startsWith("postgres");
}

async function runPostgres(program: "pg_dump" | "psql", args: readonly string[], input: string): Promise<string> {
  const { path, env } = await findTool("pg_dump");
  return runCommand(join(dirname(path), program), args, { env, input });
}

async function runMariadb(program: "mariadb-dump" | "mariadb", url: string, input: string): Promise<string> {
  const { path, env } = await findTool("mariadb-dump");
  const { hostname, port, username, pathname } = new URL(url);
  // MySQL asks for a password by a plugin of the client, which lies where the package puts it.
  const plugins = join(dirname(dirname(path)), "lib", "x86_64-linux-gnu", "libmariadb3", "plugin");
  const server = [`--plugin-dir=${plugins}`, `--host=${hostname}`, `--port=${port}`, `--user=${username}`];
  return runCommand(join(dirname(path), program), ["--no-defaults", ...server, pathname.slice(1)], { env, input });
}
