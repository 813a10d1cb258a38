import { join } from "node:path";
import { findTool } from "../fetch/tools.ts";
import { findFreePort } from "../processes/free-port.ts";
import { TestServer } from "./test-server.ts";

/** Starts etcd 3.4, one member. */
export async function startEtcd(): Promise<TestServer> {
  const peerUrl = `http://127.0.0.1:${await findFreePort()}`;
  return startMember({ name: "default", peerUrl, advertisedUrl: peerUrl, cluster: `default=${peerUrl}` });
}

const memberNames = ["one", "two", "three"] as const;

/**
 * Starts a cluster of three members; each serves when two of them do.
 *
 * @param way - What others reach a member by, where it is not the port on which the member listens for them.
 */
export async function startEtcdCluster(way?: (port: number) => Promise<number>): Promise<readonly TestServer[]> {
  const members: { readonly name: string; readonly peerUrl: string; readonly advertisedUrl: string }[] = [];
  for (const name of memberNames) {
    const port = await findFreePort();
    const advertisedUrl = `http://127.0.0.1:${(await way?.(port)) ?? port}`;
    members.push({ name, peerUrl: `http://127.0.0.1:${port}`, advertisedUrl });
  }
  const cluster = members.map(({ name, advertisedUrl }) => `${name}=${advertisedUrl}`).join();
  return await Promise.all(members.map((member) => startMember({ ...member, cluster })));
}

/**
 * Raises the alarm that a member raises for itself when its quota is used up, or ends it. While it lasts, a write
 * that takes space fails.
 */
export async function setEtcdSpaceAlarm({ port }: TestServer, action: "ACTIVATE" | "DEACTIVATE"): Promise<void> {
  const body = JSON.stringify({ action, alarm: "NOSPACE" });
  const answer = await fetch(`http://127.0.0.1:${port}/v3/maintenance/alarm`, { method: "POST", body });
  if (!answer.ok) throw new Error(await answer.text());
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

async function startMember({
  name,
  peerUrl,
  advertisedUrl,
  cluster,
}: {
  readonly name: string;
  readonly peerUrl: string;
  readonly advertisedUrl: string;
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
        "initial-advertise-peer-urls": advertisedUrl,
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
