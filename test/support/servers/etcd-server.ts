import { join } from "node:path";
import { findTool } from "../fetch/tools.ts";
import { findFreePort } from "../processes/free-port.ts";
import { TestServer } from "./test-server.ts";

/** Starts etcd 3.4, one member. */
export async function startEtcd(): Promise<TestServer> {
  const peerUrl = await newPeerUrl();
  return startMember({ name: "default", peerUrl, cluster: `default=${peerUrl}` });
}

const memberNames = ["one", "two", "three"] as const;

/** Starts a cluster of three members; each serves when two of them do. */
export async function startEtcdCluster(): Promise<readonly TestServer[]> {
  const members: { readonly name: string; readonly peerUrl: string }[] = [];
  for (const name of memberNames) members.push({ name, peerUrl: await newPeerUrl() });
  const cluster = members.map(({ name, peerUrl }) => `${name}=${peerUrl}`).join();
  return await Promise.all(members.map((member) => startMember({ ...member, cluster })));
}

/** Tells which of the members leads; undefined while none does. */
export async function findEtcdLeader(members: readonly TestServer[]): Promise<TestServer | undefined> {
  for (const member of members) {
    const status = `http://127.0.0.1:${member.port}/v3/maintenance/status`;
    const answer = await fetch(status, { method: "POST", body: "{}", signal: AbortSignal.timeout(2_000) }).catch(
      () => {},
    );
    if (answer === undefined) continue;
    const { header, leader } = (await answer.json()) as {
      readonly header: { readonly member_id: string };
      readonly leader?: string;
    };
    if (leader === header.member_id) return member;
  }
  return undefined;
}

async function newPeerUrl(): Promise<string> {
  return `http://127.0.0.1:${await findFreePort()}`;
}

async function startMember({
  name,
  peerUrl,
  cluster,
}: {
  readonly name: string;
  readonly peerUrl: string;
  readonly cluster: string;
}): Promise<TestServer> {
  const tool = await findTool("etcd");
  return TestServer.start({
    name: "etcd",
    command: async (folder, port) => {
      const clientUrl = `http://127.0.0.1:${port}`;
      const settings = {
        name,
        "data-dir": join(folder, "etcd"),
        "listen-client-urls": clientUrl,
        "advertise-client-urls": clientUrl,
        "listen-peer-urls": peerUrl,
        "initial-advertise-peer-urls": peerUrl,
        "initial-cluster": cluster,
        "log-level": "error",
      };
      const args = Object.entries(settings).map(([setting, value]) => `--${setting}=${value}`);
      return { path: tool.path, env: tool.env, args };
    },
    isReady: async (port) => {
      const answer = await fetch(`http://127.0.0.1:${port}/health`, { signal: AbortSignal.timeout(1_000) });
      return (await answer.text()).includes('"true"');
    },
    url: (port) => `etcd://127.0.0.1:${port}`,
  });
}
