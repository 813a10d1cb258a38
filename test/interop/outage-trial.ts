import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { SnowlaneProcess } from "../support/processes/snowlane-process.ts";
import { TcpProxy } from "../support/processes/tcp-proxy.ts";
import type { ClientProgram, OutageResult } from "./client-programs.ts";

/** How an outage goes. */
export interface OutageTrialOptions {
  readonly programs: readonly ClientProgram[];
  /** For the IDs that the clients write down. */
  readonly folder: string;
  /** Starts a server of one deployment, which every client asks. */
  readonly startServer: () => Promise<SnowlaneProcess>;
  /** IDs that each client takes a second. */
  readonly perSecond: number;
  /** How long the server runs, then is dead, then runs again. The clients keep a stock for the time in the middle. */
  readonly seconds: { readonly before: number; readonly dead: number; readonly after: number };
}

/** One client in the trial. */
export interface OutageTrialResult extends OutageResult {
  readonly language: string;
  /** A file of its IDs, in the order in which they were taken. */
  readonly file: string;
}

/** The port that a server listens on. */
export const portOf = ({ address }: SnowlaneProcess): number => Number(address.split(":")[1]);

/** Lets every client take IDs at an even rate, all at once, while their only server dies and comes back. */
export async function runOutageTrial(options: OutageTrialOptions): Promise<readonly OutageTrialResult[]> {
  const { programs, folder, startServer, perSecond, seconds } = options;
  const { before, dead, after } = seconds;
  let server = await startServer();
  const proxy = await TcpProxy.start(portOf(server));
  const dying = (async () => {
    await sleep(before * 1_000);
    await server.stop("SIGKILL");
    proxy.cut();
    await sleep(dead * 1_000);
    server = await startServer();
    proxy.targetPort = portOf(server);
  })();
  const keys = {
    endpoints: `http://127.0.0.1:${proxy.port}`,
    outage_ms: dead * 1_000,
    per_second: perSecond,
    seconds: before + dead + after,
  };
  const runClient = async (program: ClientProgram): Promise<OutageTrialResult> => {
    const file = join(folder, `outage-${program.language}.ids`);
    const result = await program.run<OutageResult>("outage", { ...keys, out: file });
    return { ...result, language: program.language, file };
  };
  try {
    return await Promise.all(programs.map(runClient));
  } finally {
    await dying;
    await proxy.stop();
    await server.stop("SIGTERM");
  }
}
