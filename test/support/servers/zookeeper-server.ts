import { writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { findTool } from "../fetch/tools.ts";
import { findFreePort } from "../processes/free-port.ts";
import { askPort } from "./ask-port.ts";
import { TestServer } from "./test-server.ts";

/** Starts ZooKeeper 3.8, standalone, with the Java of this machine. */
export function startZooKeeper(): Promise<TestServer> {
  return startMember({ heapMb: 256, id: undefined, settings: {} });
}

const memberIds = [1, 2, 3] as const;

/** Starts an ensemble of three members; each serves when two of them do. */
export async function startZooKeeperEnsemble(): Promise<readonly TestServer[]> {
  const servers: Record<string, string | number> = { initLimit: 20, syncLimit: 20 };
  for (const id of memberIds) {
    servers[`server.${id}`] = `127.0.0.1:${await findFreePort()}:${await findFreePort()}`;
  }
  return await Promise.all(memberIds.map((id) => startMember({ heapMb: 96, id, settings: servers })));
}

/** Tells which of the members leads; undefined while none does. */
export async function findZooKeeperLeader(members: readonly TestServer[]): Promise<TestServer | undefined> {
  for (const member of members) {
    const answer = await askPort(member.port, "srvr").catch(() => "");
    if (answer.includes("Mode: leader")) return member;
  }
  return undefined;
}

async function startMember({
  heapMb,
  id,
  settings: ofEnsemble,
}: {
  readonly heapMb: number;
  /** undefined: it has no ensemble. */
  readonly id: number | undefined;
  readonly settings: Readonly<Record<string, string | number>>;
}): Promise<TestServer> {
  const tool = await findTool("zookeeper");
  const classPath = [tool.path, join(dirname(tool.path), "*")].join(":");
  return TestServer.start({
    name: "zookeeper",
    command: async (folder, port) => {
      const dataDir = join(folder, "zookeeper");
      const settings = {
        tickTime: 500,
        dataDir,
        clientPort: port,
        clientPortAddress: "127.0.0.1",
        // Its default, 60 from one address, is less than a test may need.
        maxClientCnxns: 0,
        "admin.enableServer": false,
        "4lw.commands.whitelist": "*",
        ...ofEnsemble,
      };
      const file = join(folder, "zoo.cfg");
      writeFileSync(
        file,
        Object.entries(settings)
          .map(([name, value]) => `${name}=${value}\n`)
          .join(""),
      );
      if (id !== undefined) {
        await mkdir(dataDir, { recursive: true });
        writeFileSync(join(dataDir, "myid"), `${id}\n`);
      }
      const main = "org.apache.zookeeper.server.quorum.QuorumPeerMain";
      return { path: "java", env: tool.env, args: [`-Xmx${heapMb}m`, "-cp", classPath, main, file] };
    },
    // The port opens half a second before it serves.
    isReady: async (port) => (await askPort(port, "srvr")).includes("Mode:"),
    url: (port) => `zookeeper://127.0.0.1:${port}`,
  });
}
