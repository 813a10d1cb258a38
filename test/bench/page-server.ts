/** What the page costs its server: its files, and the calls of pages that watch. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { findTool } from "../support/fetch/tools.ts";
import { runCommand } from "../support/processes/run-command.ts";
import type { BenchServer } from "./bench-server.ts";

const pagesProgram = new URL("watching-pages.ts", import.meta.url);

/** Processor time of the server for one `GET /`, in microseconds. */
export async function measureGet(server: BenchServer, requests: number): Promise<number> {
  const { path, env } = await findTool("h2load");
  const url = `http://127.0.0.1:${server.port}/`;
  const beforeUs = server.cpuUs();
  const output = await runCommand(path, ["-c", "4", "-m", "8", "-n", `${requests}`, "-H", "accept-encoding: br", url], {
    env,
  });
  if (!output.includes(`${requests} succeeded`)) throw new Error(`GET / failed under h2load:\n${output}`);
  return (server.cpuUs() - beforeUs) / requests;
}

/** Lets `count` pages watch a server. @returns What ends them, and fails if one of their calls failed. */
export function watchAs(count: number, port: number): () => Promise<void> {
  const pages = fork(pagesProgram, [String(port), String(count)]);
  const exited = once(pages, "exit");
  return async () => {
    if (pages.connected) pages.disconnect();
    const [code] = await exited;
    if (code !== 0) throw new Error("a page that watches failed; its error is above");
  };
}
