/** What the page costs its server: its files, and the calls of pages that watch. */
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { AdminService } from "../../src/gen/snowlane/v1/admin_service_pb.ts";
import { IdService } from "../../src/gen/snowlane/v1/id_service_pb.ts";
import { SequenceService } from "../../src/gen/snowlane/v1/sequence_service_pb.ts";
import { findTool } from "../support/fetch/tools.ts";
import { runCommand } from "../support/processes/run-command.ts";
import type { BenchServer } from "./bench-server.ts";

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

/**
 * Makes the calls of `count` pages that show Watch, each on a connection of its own.
 *
 * @returns What ends them.
 */
export function watchAs(count: number, port: number): () => void {
  const timers = Array.from({ length: count }, () => {
    const transport = createGrpcTransport({ baseUrl: `http://127.0.0.1:${port}` });
    const [ids, admin, sequences] = [IdService, AdminService, SequenceService].map((service) =>
      createClient(service, transport),
    ) as [
      ReturnType<typeof createClient<typeof IdService>>,
      ReturnType<typeof createClient<typeof AdminService>>,
      ReturnType<typeof createClient<typeof SequenceService>>,
    ];
    let afterIndex = 0n;
    let second = 0;
    const look = async (): Promise<void> => {
      const { samples } = await admin.getStatus({ afterIndex });
      afterIndex = samples.at(-1)?.index ?? afterIndex;
      if (second++ % 5 > 0) return;
      await Promise.all([ids.getInfo({}), admin.listWorkers({}), sequences.listSequences({})]);
    };
    // The server that is measured may be stopped under a call.
    return setInterval(() => void look().catch(() => undefined), 1_000);
  });
  return () => {
    for (const timer of timers) clearInterval(timer);
  };
}
