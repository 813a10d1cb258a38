import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findTool } from "../fetch/tools.ts";
import { askPort } from "./ask-port.ts";
import { TestServer } from "./test-server.ts";

/** Starts ZooKeeper 3.8, standalone, with the Java of this machine. */
export async function startZooKeeper(): Promise<TestServer> {
  const tool = await findTool("zookeeper");
  const classPath = [tool.path, join(dirname(tool.path), "*")].join(":");
  return TestServer.start({
    name: "zookeeper",
    command: async (folder, port) => {
      const settings = {
        tickTime: 500,
        dataDir: join(folder, "zookeeper"),
        clientPort: port,
        clientPortAddress: "127.0.0.1",
        // Its default, 60 from one address, is less than a test may need.
        maxClientCnxns: 0,
        "admin.enableServer": false,
        "4lw.commands.whitelist": "*",
      };
      const file = join(folder, "zoo.cfg");
      writeFileSync(
        file,
        Object.entries(settings)
          .map(([name, value]) => `${name}=${value}\n`)
          .join(""),
      );
      const main = "org.apache.zookeeper.server.quorum.QuorumPeerMain";
      return { path: "java", env: tool.env, args: ["-Xmx256m", "-cp", classPath, main, file] };
    },
    // The port opens half a second before it serves.
    isReady: async (port) => (await askPort(port, "srvr")).includes("Mode:"),
    url: (port) => `zookeeper://127.0.0.1:${port}`,
  });
}
