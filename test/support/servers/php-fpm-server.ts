import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { extensionFlags } from "../fetch/php.ts";
import { findTool } from "../fetch/tools.ts";
import { takesConnections } from "./proxy.ts";
import { TestServer } from "./test-server.ts";

/** A pool of PHP-FPM behind nginx. */
export interface PhpFpm {
  /** Where nginx answers: each request runs the script. */
  readonly url: string;
  readonly pool: TestServer;
  readonly front: TestServer;
  readonly stop: () => Promise<void>;
}

const poolFile = (folder: string, port: number, workers: number): string => `
[global]
daemonize = no
error_log = ${join(folder, "php-fpm.log")}
[www]
listen = 127.0.0.1:${port}
pm = static
pm.max_children = ${workers}
clear_env = no
catch_workers_output = yes
${process.getuid?.() === 0 ? "user = root" : ""}
`;

const frontFile = (folder: string, port: number, pool: number, script: string): string => `
${process.getuid?.() === 0 ? "user root;" : ""}
daemon off;
worker_processes 1;
pid ${join(folder, "nginx.pid")};
error_log stderr warn;
events { worker_connections 1024; }
http {
  access_log off;
  ${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${join(folder, name)};`).join(" ")}
  server {
    listen 127.0.0.1:${port};
    location / {
      fastcgi_pass 127.0.0.1:${pool};
      fastcgi_param SCRIPT_FILENAME ${script};
      fastcgi_param REQUEST_METHOD $request_method;
      fastcgi_param QUERY_STRING $query_string;
    }
  }
}
`;

/** Starts PHP-FPM with curl and APCu, and nginx before it, for one script. */
export async function startPhpFpm(options: {
  readonly script: string;
  readonly workers: number;
  readonly environment: Readonly<Record<string, string>>;
}): Promise<PhpFpm> {
  const { script, workers, environment } = options;
  const [fpm, nginx] = [await findTool("php-fpm"), await findTool("nginx")];
  const extensions = await extensionFlags(fpm.path, fpm.env, ["curl", "apcu"]);
  const pool = await TestServer.start({
    name: "php-fpm",
    command: async (folder, port) => {
      const file = join(folder, "pool.conf");
      writeFileSync(file, poolFile(folder, port, workers));
      const asRoot = process.getuid?.() === 0 ? ["--allow-to-run-as-root"] : [];
      const args = ["-n", ...extensions, "--nodaemonize", ...asRoot, "--fpm-config", file];
      return { path: fpm.path, env: { ...fpm.env, ...environment }, args };
    },
    isReady: takesConnections,
    url: (port) => `127.0.0.1:${port}`,
  });
  const front = await TestServer.start({
    name: "nginx",
    command: async (folder, port) => {
      const file = join(folder, "nginx.conf");
      writeFileSync(file, frontFile(folder, port, pool.port, script));
      return { path: nginx.path, env: nginx.env, args: ["-p", folder, "-c", file, "-e", "stderr"] };
    },
    isReady: takesConnections,
    url: (port) => `http://127.0.0.1:${port}`,
  });
  const stop = async (): Promise<void> => {
    await front.stop();
    await pool.stop();
  };
  return { url: front.url, pool, front, stop };
}
