import { mkdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { findTool, toolInPlaceOf } from "../fetch/tools.ts";
import { fetchOnce } from "../fetch/user-cache.ts";
import { runCommand } from "../processes/run-command.ts";
import { placeOf, startMysql, takesRoot, urlOf } from "./mysql-server.ts";
import { TestServer } from "./test-server.ts";

/** The SQL that mariadb-install-db feeds to the server, without the help texts. */
const systemTables = ["mysql_system_tables", "mysql_performance_tables", "mysql_system_tables_data"];

/**
 * Starts MariaDB 10.11 with an account `root` without password and an empty database `test`. Where MySQL takes its
 * place, that is started.
 *
 * @param environment - Laid over that of the server.
 */
export async function startMariadb(
  args: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Promise<TestServer> {
  if (toolInPlaceOf("mariadb") === "mysql9") return startMysql(args, environment);
  const tool = await findTool("mariadb");
  const program = realpathSync(tool.path);
  const installed = dirname(dirname(program));
  const common = (folder: string): string[] => [
    "--no-defaults",
    `--basedir=${installed}`,
    `--datadir=${folder}`,
    // Servers that start at once would take each other's temporary tables in a folder of all.
    `--tmpdir=${folder}`,
    ...(process.getuid?.() === 0 ? ["--user=root"] : []),
  ];
  /** The data of a new server: it takes a second of a processor to make, so it is made once, and copied. */
  const firstData = async (): Promise<string> => {
    const version = await runCommand(program, ["--version"], { env: tool.env });
    const folder = await fetchOnce(`mariadb-data-${/ Ver (\S+)/.exec(version)?.[1] ?? "unknown"}`, async (base) => {
      const scripts = systemTables.map((name) =>
        readFileSync(join(installed, "share", "mysql", `${name}.sql`), "utf8"),
      );
      // The bootstrap takes one statement a line, or several lines up to a semicolon.
      const input = ["create database mysql;", "use mysql;", "SET @auth_root_socket=NULL;", ...scripts].join("\n");
      mkdirSync(join(base, "data"));
      await runCommand(program, [...common(join(base, "data")), "--bootstrap", "--skip-networking"], {
        env: tool.env,
        input: `${input}\ncreate database test;\n`,
      });
    });
    return join(folder, "data");
  };
  return TestServer.start({
    name: "mariadb",
    prepare: async (folder) => {
      await runCommand("cp", ["-a", "--reflink=auto", `${await firstData()}/.`, folder]);
    },
    command: async (folder, port) => ({
      path: program,
      env: { ...tool.env, ...environment },
      args: [...common(folder), ...placeOf(folder, port), ...args],
    }),
    isReady: takesRoot,
    url: urlOf,
  });
}
