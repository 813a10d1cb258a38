import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { findTool } from "../fetch/tools.ts";
import { type Proxy, type ProxyOptions, takesConnections } from "./proxy.ts";
import { TestServer } from "./test-server.ts";

/** Speaks HTTP/2 to the servers whatever its callers speak. */
function configuration(port: number, { upstreams, upstreamCaFile, upstreamConnections }: ProxyOptions): string {
  const tls = upstreamCaFile === undefined ? "" : `ssl alpn h2 ca-file ${upstreamCaFile} verify required`;
  const servers = upstreams.map((address, index) => `  server s${index} ${address} proto h2 ${tls}`);
  return `
global
  maxconn 4000
  nbthread 1
  hard-stop-after 10s
defaults
  mode http
  timeout connect 5s
  timeout client 120s
  timeout server 120s
  retries 3
  option redispatch 1
  retry-on conn-failure empty-response response-timeout
frontend callers
  bind 127.0.0.1:${port}
  default_backend servers
backend servers
  balance roundrobin
  http-reuse ${upstreamConnections === "kept" ? "always" : "never"}
${servers.join("\n")}
`;
}

/** Starts HAProxy in front of servers. */
export async function startHaproxy(options: ProxyOptions): Promise<Proxy> {
  const { path, env } = await findTool("haproxy");
  const server = await TestServer.start({
    name: "haproxy",
    command: async (folder, port) => {
      const file = join(folder, "haproxy.cfg");
      writeFileSync(file, configuration(port, options));
      return { path, env, args: ["-W", "-db", "-f", file] };
    },
    isReady: takesConnections,
    url: (port) => `http://127.0.0.1:${port}`,
  });
  return {
    address: `127.0.0.1:${server.port}`,
    http1Url: server.url,
    server,
    reload: () => void process.kill(server.process.pid, "SIGUSR2"),
  };
}
