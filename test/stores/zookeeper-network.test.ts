import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import type { TestServer } from "../support/servers/test-server.ts";
import { ZooKeeperNetwork } from "../support/servers/zookeeper-network.ts";
import { findZooKeeperLeader, startZooKeeperEnsemble, zooKeeperRole } from "../support/servers/zookeeper-server.ts";

const patience = { timeout: 100_000, interval: 100 };

test("a member of ZooKeeper that is parted from the others has no leader, and they have one, until they are joined again", async () => {
  const network = new ZooKeeperNetwork();
  onTestFinished(() => network.stop());
  const members = await startZooKeeperEnsemble(network);
  onTestFinished(async () => void (await Promise.all(members.map((member) => member.stop()))));
  const roles = async (): Promise<(string | undefined)[]> => await Promise.all(members.map(zooKeeperRole));
  const areWhole = async (): Promise<boolean> =>
    (await roles()).map(String).toSorted().join() === "follower,follower,leader";
  const areBypassed = (): boolean => haveConnection(members, network);

  await areWhole();
  const leader = (await findZooKeeperLeader(members))!;
  for (const parted of [members.find((member) => member !== leader)!, leader]) {
    const ways = network.waysOf(members.indexOf(parted) + 1);
    for (const way of ways) {
      way.mode = "black-hole";
      way.cut();
    }
    await expect.poll(() => zooKeeperRole(parted), patience).toBeUndefined();
    await expect.poll(() => findZooKeeperLeader(members), patience).toBeDefined();
    expect(await findZooKeeperLeader(members)).not.toBe(parted);
    expect(areBypassed()).toBe(false);
    for (const way of ways) way.reopen();
    await areWhole();
    expect(areBypassed()).toBe(false);
  }
});

/** Whether a member has a connection to a port of another one that does not lead through the network. */
function haveConnection(members: readonly TestServer[], network: ZooKeeperNetwork): boolean {
  const ports = new Set(members.flatMap((_, place) => network.waysOf(place + 1).map(({ targetPort }) => targetPort)));
  const sockets = new Set(members.flatMap(({ process }) => socketsOf(process.pid)));
  const rows = ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((path) => readFileSync(path, "utf8").split("\n").slice(1));
  return rows.some((row) => {
    const fields = row.trim().split(/\s+/);
    const [to = "", state, inode = ""] = [fields[2], fields[3], fields[9]];
    return state === "01" && sockets.has(inode) && ports.has(Number.parseInt(to.slice(to.indexOf(":") + 1), 16));
  });
}

function socketsOf(processId: number): readonly string[] {
  return readdirSync(`/proc/${processId}/fd`).flatMap((fd) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${processId}/fd/${fd}`))?.[1] ?? [];
    } catch {
      // It was closed meanwhile.
      return [];
    }
  });
}
