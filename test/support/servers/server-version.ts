import { findTool, toolInPlaceOf } from "../fetch/tools.ts";
import { runCommand } from "../processes/run-command.ts";

/** A store whose server a test starts. */
export type StoreServer = "postgres" | "mariadb" | "redis" | "etcd" | "zookeeper";

/** The program that is started for a store, with its version: `redis 7.0.15`, or what takes its place. */
export async function nameWithVersion(store: StoreServer): Promise<string> {
  const tool = await findTool(store);
  // ZooKeeper's is a file whose link bears the version.
  const text =
    store === "zookeeper"
      ? await runCommand("readlink", ["-f", tool.path])
      : await runCommand(tool.path, ["--version"], { env: tool.env });
  const versions = [...text.matchAll(/\d+\.\d+(\.\d+)?/g)].map(([version]) => version);
  // A path may hold the version of its package, too.
  const version = (store === "zookeeper" ? versions.at(-1) : versions[0]) ?? "";
  return `${toolInPlaceOf(store).replace(/\d+$/, "")} ${version}`;
}
