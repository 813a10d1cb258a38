import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { findTool } from "../fetch/tools.ts";
import { answersQueries } from "./postgres-server.ts";
import { TestServer } from "./test-server.ts";

/**
 * Starts PgBouncer in transaction mode before a PostgreSQL: the same URL with another port leads through it.
 *
 * @param limits - `poolSize`: connections that it keeps to the server, for all of its clients. `clientsMax`: how many
 * clients it takes.
 */
export async function startPgBouncer(
  target: TestServer,
  { poolSize, clientsMax = 50 }: { readonly poolSize: number; readonly clientsMax?: number },
): Promise<TestServer> {
  const { path, env } = await findTool("pgbouncer");
  return TestServer.start({
    name: "pgbouncer",
    command: async (folder, port) => {
      const file = join(folder, "pgbouncer.ini");
      const settings = {
        listen_addr: "127.0.0.1",
        listen_port: port,
        unix_socket_dir: "",
        auth_type: "any",
        pool_mode: "transaction",
        default_pool_size: poolSize,
        max_client_conn: clientsMax,
        // The driver sends it, and a pool does not keep it apart.
        ignore_startup_parameters: "extra_float_digits",
      };
      // It refuses root, and changes to another user by itself when it has read its libraries.
      const all = process.getuid?.() === 0 ? { ...settings, user: "nobody" } : settings;
      const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}\n`);
      const database = `[databases]\n* = host=127.0.0.1 port=${target.port} user=postgres\n`;
      writeFileSync(file, `${database}[pgbouncer]\n${lines.join("")}`);
      return { path, env, args: [file] };
    },
    isReady: answersQueries,
    url: (port) => target.url.replace(`:${target.port}`, `:${port}`),
  });
}
