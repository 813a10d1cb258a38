import { findTool } from "../fetch/tools.ts";
import { askPort } from "./ask-port.ts";
import { TestServer } from "./test-server.ts";

/** How a test's Redis is set up. */
export interface RedisServerOptions {
  /**
   * `none`: a restart loses all data, Redis's way of a cache. `every-write`: the append-only file, synced before each
   * answer.
   */
  readonly persistence?: "none" | "every-write";
  /** Further arguments of redis-server; a function is asked at each start. */
  readonly args?: readonly string[] | (() => readonly string[]);
}

/** Starts Redis 7. */
export async function startRedis({ persistence = "none", args = [] }: RedisServerOptions = {}): Promise<TestServer> {
  const tool = await findTool("redis");
  const appendOnly = persistence === "every-write" ? ["yes", "--appendfsync", "always"] : ["no"];
  return TestServer.start({
    name: "redis",
    command: async (folder, port) => ({
      path: tool.path,
      env: tool.env,
      args: [
        "--port",
        `${port}`,
        "--bind",
        "127.0.0.1",
        "--dir",
        folder,
        "--save",
        "",
        "--appendonly",
        ...appendOnly,
        ...(typeof args === "function" ? args() : args),
      ],
    }),
    // With a password, NOAUTH is an answer, too.
    isReady: async (port) => /^[+]PONG|^-NOAUTH/.test(await askPort(port, "PING\r\nQUIT\r\n")),
    url: (port) => `redis://127.0.0.1:${port}`,
  });
}
