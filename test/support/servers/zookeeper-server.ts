import { writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { findTool } from "../fetch/tools.ts";
import { findFreePort } from "../processes/free-port.ts";
import { askPort } from "./ask-port.ts";
import { TestServer } from "./test-server.ts";
import type { MemberLink, ZooKeeperNetwork } from "./zookeeper-network.ts";

/** Starts ZooKeeper 3.8, standalone, with the Java of this machine. */
export function startZooKeeper(): Promise<TestServer> {
  return startMember({ heapMb: 256, id: undefined, settings: {} });
}

const memberIds = [1, 2, 3] as const;

/**
 * Starts an ensemble of three members; each serves when two of them do.
 *
 * @param network - Between the members, which have the numbers 1 to 3. With one, a member that hears nothing misses its
 * leader after 2 s, otherwise after 10 s.
 */
export async function startZooKeeperEnsemble(network?: ZooKeeperNetwork): Promise<readonly TestServer[]> {
  const ports = new Map<number, { readonly quorum: number; readonly election: number }>();
  for (const id of memberIds) ports.set(id, { quorum: await findFreePort(), election: await findFreePort() });
  const start = async (id: number): Promise<TestServer> => {
    const servers: Record<string, string | number> = { initLimit: 20, syncLimit: network === undefined ? 20 : 4 };
    for (const [to, { quorum, election }] of ports) {
      const way = async (use: MemberLink["use"], port: number): Promise<number> =>
        network === undefined || to === id ? port : await network.lay({ from: id, to, port, use });
      servers[`server.${to}`] = `127.0.0.1:${await way("quorum", quorum)}:${await way("election", election)}`;
    }
    return await startMember({ heapMb: 96, id, settings: servers });
  };
  return await Promise.all(memberIds.map(start));
}

/** Tells which of the members leads; undefined while none does. */
export async function findZooKeeperLeader(members: readonly TestServer[]): Promise<TestServer | undefined> {
  for (const member of members) if ((await zooKeeperRole(member)) === "leader") return member;
  return undefined;
}

/** What a member is: `leader` or `follower`; undefined while it knows of no leader that has a majority. */
export async function zooKeeperRole({ port }: TestServer): Promise<string | undefined> {
  return /^Mode: (\w+)$/m.exec(await askPort(port, "srvr").catch(() => ""))?.[1];
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
      // Its default is a minute, in which a member that was cut off says nothing.
      const votes = "-Dzookeeper.fastleader.maxNotificationInterval=1000";
      return { path: "java", env: tool.env, args: [`-Xmx${heapMb}m`, votes, "-cp", classPath, main, file] };
    },
    // The port opens half a second before it serves.
    isReady: async (port) => (await askPort(port, "srvr")).includes("Mode:"),
    url: (port) => `zookeeper://127.0.0.1:${port}`,
  });
}
