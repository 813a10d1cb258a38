import { join } from "node:path";
import { findTool } from "../fetch/tools.ts";
import { findFreePort } from "../processes/free-port.ts";
import { TestServer } from "./test-server.ts";

/** Starts etcd 3.4, one member. */
export async function startEtcd(): Promise<TestServer> {
  const tool = await findTool("etcd");
  const peerUrl = `http://127.0.0.1:${await findFreePort()}`;
  return TestServer.start({
    name: "etcd",
    command: async (folder, port) => {
      const clientUrl = `http://127.0.0.1:${port}`;
      const settings = {
        "data-dir": join(folder, "etcd"),
        "listen-client-urls": clientUrl,
        "advertise-client-urls": clientUrl,
        "listen-peer-urls": peerUrl,
        "initial-advertise-peer-urls": peerUrl,
        "initial-cluster": `default=${peerUrl}`,
        "log-level": "error",
      };
      const args = Object.entries(settings).map(([name, value]) => `--${name}=${value}`);
      return { path: tool.path, env: tool.env, args };
    },
    isReady: async (port) => {
      const answer = await fetch(`http://127.0.0.1:${port}/health`, { signal: AbortSignal.timeout(1_000) });
      return (await answer.text()).includes('"true"');
    },
    url: (port) => `etcd://127.0.0.1:${port}`,
  });
}
