import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { findTool } from "../fetch/tools.ts";
import { askRedis } from "./redis-replicas.ts";
import { TestServer } from "./test-server.ts";

/** How a test's sentinel is set up. */
export interface RedisSentinelOptions {
  /** Port of the primary that it watches at first, under the name `primary`. */
  readonly primaryPort: number;
  /** Sentinels that must agree before one of them promotes a replica. A sentinel alone with 2 changes nothing. */
  readonly quorum: number;
  /** Further lines of its configuration. */
  readonly lines?: readonly string[];
}

/** Starts the sentinel of Redis 7: the program of redis-sentinel. It is stopped when the test ends. */
export async function startRedisSentinel(options: RedisSentinelOptions): Promise<TestServer> {
  const { primaryPort, quorum, lines = [] } = options;
  const { path, env } = await findTool("redis");
  const server = await TestServer.start({
    name: "redis-sentinel",
    command: async (folder, port) => {
      const file = join(folder, "sentinel.conf");
      const config = [
        `port ${port}`,
        "bind 127.0.0.1",
        `dir ${folder}`,
        `sentinel monitor primary 127.0.0.1 ${primaryPort} ${quorum}`,
        "sentinel down-after-milliseconds primary 1000",
        ...lines,
      ];
      // A sentinel keeps what it learns in this file.
      if (!existsSync(file)) writeFileSync(file, `${config.join("\n")}\n`);
      return { path, env, args: [file, "--sentinel"] };
    },
    isReady: async (port) => /^[+]PONG|^-NOAUTH/.test(await askRedis(port, "PING")),
    url: (port) => `redis://127.0.0.1:${port}?sentinel=primary`,
  });
  onTestFinished(() => server.stop());
  return server;
}
