import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { findTool } from "../fetch/tools.ts";
import { findFreePort } from "../processes/free-port.ts";
import { type Proxy, type ProxyOptions, takesConnections } from "./proxy.ts";
import { TestServer } from "./test-server.ts";

/** The options of nginx beside those of every proxy. */
interface NginxOptions extends ProxyOptions {
  /** Folders, each with a slash at both ends, under which the servers' paths are found as well: `/ids/`. */
  readonly prefixes?: readonly string[];
}

/** Of one connection. nginx closes it after 1,000 unless told otherwise. */
const requestsMax = 1_000_000_000;

interface Ports {
  readonly grpc: number;
  readonly http1: number;
}

/**
 * Speaks HTTP/2 to the servers for gRPC, a request at a time on a connection, and HTTP/1.1 for the rest. By two
 * upstreams, for nginx would use a kept connection of one for the other.
 */
function configuration(folder: string, { grpc, http1 }: Ports, options: NginxOptions): string {
  const { upstreams, upstreamCaFile, upstreamConnections, prefixes = [] } = options;
  const isTls = upstreamCaFile !== undefined;
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  const kept = upstreamConnections === "kept" ? `keepalive 32; keepalive_requests ${requestsMax};` : "";
  const servers = upstreams.map((address) => `server ${address};`).join(" ");
  const next = "error timeout invalid_header non_idempotent";
  const verify = (module: string): string =>
    isTls
      ? `${module}_ssl_trusted_certificate ${upstreamCaFile}; ${module}_ssl_verify on; ${module}_ssl_name localhost;`
      : "";
  // With a path behind the upstream, nginx puts it in place of the location's.
  const http1Location = (path: string, upstreamPath: string): string => `
    location ${path} {
      proxy_pass ${isTls ? "https" : "http"}://http1_servers${upstreamPath};
      proxy_http_version 1.1;
      proxy_set_header Host $host;
      proxy_set_header Connection "";
      proxy_next_upstream ${next};
      ${verify("proxy")}
    }`;
  return `
${process.getuid?.() === 0 ? "user root;" : ""}
daemon off;
worker_processes 1;
pid ${join(folder, "nginx.pid")};
error_log stderr warn;
events { worker_connections 4096; }
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${join(folder, name)};`).join(" ")}
  keepalive_requests ${requestsMax};
  upstream servers { ${servers} ${kept} }
  upstream http1_servers { ${servers} ${kept} }
  server {
    listen 127.0.0.1:${grpc} http2;
    location / {
      grpc_pass ${isTls ? "grpcs" : "grpc"}://servers;
      grpc_next_upstream ${next};
      ${verify("grpc")}
    }
  }
  server {
    listen 127.0.0.1:${http1};
    ${http1Location("/", "")}
    ${prefixes.map((prefix) => http1Location(prefix, "/")).join("")}
  }
}
`;
}

/** Starts nginx in front of servers. */
export async function startNginx(options: NginxOptions): Promise<Proxy> {
  const { path, env } = await findTool("nginx");
  const http1 = await findFreePort();
  const server = await TestServer.start({
    name: "nginx",
    command: async (folder, port) => {
      const file = join(folder, "nginx.conf");
      writeFileSync(file, configuration(folder, { grpc: port, http1 }, options));
      return { path, env, args: ["-p", folder, "-c", file, "-e", "stderr"] };
    },
    isReady: async (port) => (await takesConnections(port)) && (await takesConnections(http1)),
    url: (port) => `http://127.0.0.1:${port}`,
  });
  return {
    address: `127.0.0.1:${server.port}`,
    http1Url: `http://127.0.0.1:${http1}`,
    server,
    reload: () => void process.kill(server.process.pid, "SIGHUP"),
  };
}
