import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { SnowlaneProcess } from "../support/processes/snowlane-process.ts";
import { TcpProxy } from "../support/processes/tcp-proxy.ts";
import { ProgramUnderTest } from "../clients/conformance/program-under-test.ts";
import { patience, type TakeResult } from "../clients/conformance/world.ts";
import type { ClientProgram } from "./client-programs.ts";

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
export interface OutageTrialResult {
  readonly language: string;
  readonly count: number;
  readonly failures: number;
  /** Calls that found no stock, from the moment on at which the server died. */
  readonly waits: number;
  /** What the commands `take` wrote. */
  readonly files: readonly string[];
}

/** The port that a server listens on. */
export const portOf = ({ address }: SnowlaneProcess): number => Number(address.split(":")[1]);

/** Lets every client take IDs at an even rate, all at once, while their only server dies and comes back. */
export async function runOutageTrial(options: OutageTrialOptions): Promise<readonly OutageTrialResult[]> {
  const { programs, folder, startServer, perSecond, seconds } = options;
  const { before, dead, after } = seconds;
  let server = await startServer();
  const proxy = await TcpProxy.start(portOf(server));
  const client = { client: "outage" };
  const endpoints = `http://127.0.0.1:${proxy.port}`;
  const running = programs.map(({ language, call }) => ({ language, program: new ProgramUnderTest(call) }));
  const takeAll = (part: string, length: number) =>
    Promise.all(
      running.map(async ({ language, program }) => {
        const file = join(folder, `outage-${language}-${part}.ids`);
        const taking = { per_second: perSecond, seconds: length, out: file };
        const { count, failures } = await program.send<TakeResult>("take", { ...client, ...taking });
        const { waits } = await program.send<{ readonly waits: number }>("stats", client);
        return { language, count, failures, waits, file };
      }),
    );
  const reviving = async (): Promise<void> => {
    await sleep(dead * 1_000);
    server = await startServer();
    proxy.targetPort = portOf(server);
  };
  try {
    const opening = { ...client, buffer: 1, endpoints, outage_ms: dead * 1_000 };
    for (const { program } of running) {
      // A virtual machine that starts slowly must not fail a call.
      const patient = { client: "first", buffer: 1, endpoints, ...patience };
      await program.send("open", patient);
      await program.send("call", { client: "first", count: 1 });
      await program.send("close", { client: "first" });
      await program.send("open", opening);
    }
    const filling = await takeAll("before", before);
    await server.stop("SIGKILL");
    proxy.cut();
    const [living] = await Promise.all([takeAll("then", dead + after), reviving()]);
    return living.map(({ language, count, failures, waits, file }, index) => {
      const early = filling[index]!;
      return {
        language,
        count: early.count + count,
        failures: early.failures + failures,
        waits: waits - early.waits,
        files: [early.file, file],
      };
    });
  } finally {
    await Promise.all(running.map(({ program }) => program.end()));
    await proxy.stop();
    await server.stop("SIGTERM");
  }
}
