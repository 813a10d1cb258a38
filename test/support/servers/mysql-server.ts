import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import mysql from "mysql2/promise";
import { fetchOnce } from "../fetch/user-cache.ts";
import { findTool, type Tool } from "../fetch/tools.ts";
import { runCommand } from "../processes/run-command.ts";
import { TestServer } from "./test-server.ts";

const accounts = `CREATE DATABASE test;
CREATE USER root@'127.0.0.1';
GRANT ALL ON *.* TO root@'127.0.0.1' WITH GRANT OPTION;
`;

/**
 * Starts MySQL 9 with an account `root` without password and an empty database `test`.
 *
 * @param environment - Laid over that of the server.
 */
export async function startMysql(
  args: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Promise<TestServer> {
  const tool = await findTool("mysql9");
  const first = await firstData(tool);
  return TestServer.start({
    name: "mysql",
    prepare: async (folder) => {
      await runCommand("cp", ["-a", `${first}/.`, folder]);
      // Another server has another UUID.
      rmSync(join(folder, "auto.cnf"), { force: true });
    },
    command: async (folder, port) => ({
      path: tool.path,
      env: { ...tool.env, ...environment },
      args: [...common(tool, folder), ...placeOf(folder, port), "--mysqlx=OFF", ...args],
    }),
    isReady: takesRoot,
    url: urlOf,
  });
}

/** The arguments of MySQL and of MariaDB that say where it listens, and where it keeps its socket. */
export function placeOf(folder: string, port: number): readonly string[] {
  return [
    `--port=${port}`,
    "--bind-address=127.0.0.1",
    "--skip-name-resolve",
    `--socket=${join(folder, "my.sock")}`,
    `--pid-file=${join(folder, "my.pid")}`,
  ];
}

/** Whether `root` can connect. @throws What kept it from that. */
export async function takesRoot(port: number): Promise<boolean> {
  const link = await mysql.createConnection({ host: "127.0.0.1", port, user: "root", connectTimeout: 1_000 });
  link.destroy();
  return true;
}

export function urlOf(port: number): string {
  return `mysql://root@127.0.0.1:${port}/test`;
}

function common({ path }: Tool, folder: string): string[] {
  return [
    "--no-defaults",
    `--basedir=${dirname(dirname(path))}`,
    `--datadir=${folder}`,
    // Servers that start at once would take each other's temporary tables in a folder of all.
    `--tmpdir=${folder}`,
    // The folder that Debian built in is not there.
    "--secure-file-priv=NULL",
    ...(process.getuid?.() === 0 ? ["--user=root"] : []),
  ];
}

/** The data of a new server. It takes ten seconds to make, so it is made once, and copied. */
async function firstData(tool: Tool): Promise<string> {
  const version = await runCommand(tool.path, ["--version"]);
  const name = `mysql-data-${/ Ver (\S+)/.exec(version)?.[1] ?? "unknown"}`;
  const base = await fetchOnce(name, async (base) => {
    const [folder, script] = [join(base, "data"), join(base, "accounts.sql")];
    mkdirSync(folder);
    writeFileSync(script, accounts);
    await runCommand(tool.path, [...common(tool, folder), "--initialize-insecure", `--init-file=${script}`]);
  });
  return join(base, "data");
}
