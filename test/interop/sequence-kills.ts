/** A Go, a Python and a curl caller of one sequence, whose server is killed again and again. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { vi } from "vitest";
import { readIdFiles } from "../support/processes/id-files.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { sequencesReady } from "../support/processes/sequences-ready.ts";
import type { SnowlaneProcess } from "../support/processes/snowlane-process.ts";
import { TcpProxy } from "../support/processes/tcp-proxy.ts";
import type { ClientProgram, IssueResult } from "./client-programs.ts";
import { portOf } from "./outage-trial.ts";

const name = "shared";
const countEach = 50_000;
/** The server is killed when this many values have been taken from the database. */
const killAt = [10_000, 60_000];

/** How a trial goes. */
export interface KillTrialOptions {
  /** Those for Go and Python. */
  readonly programs: readonly ClientProgram[];
  /** For the values that the clients write down. */
  readonly folder: string;
  readonly store: string;
  /** Starts a server of that store. */
  readonly startServer: () => Promise<SnowlaneProcess>;
}

/** What came of it. */
export interface KillTrialResult {
  readonly kills: number;
  /** All values of the programs, and those of curl. */
  readonly ofPrograms: BigUint64Array;
  readonly ofCurl: readonly bigint[];
}

/** Makes a sequence by the command line, and lets the callers take its values while its server is killed twice. */
export async function runKillTrial({
  programs,
  folder,
  store,
  startServer,
}: KillTrialOptions): Promise<KillTrialResult> {
  const create = ["sequences", "create", name, "--step-max", "1000", "--store", store];
  await runCommand(process.execPath, ["src/cli/main.ts", ...create]);
  let server = await startServer();
  await sequencesReady(server.url);
  const proxy = await TcpProxy.start(portOf(server));
  const endpoints = `http://127.0.0.1:${proxy.port}`;
  const done = new AbortController();
  const files = programs.map(({ language }) => join(folder, `shared-${language}.values`));
  let kills = 0;
  const killing = (async () => {
    for (const value of killAt) {
      await vi.waitUntil(async () => (await nextValue(server.url)) > value, { timeout: 120_000, interval: 20 });
      await server.stop("SIGKILL");
      kills++;
      proxy.cut();
      server = await startServer();
      proxy.targetPort = portOf(server);
    }
  })();
  try {
    const curl = takeByCurl(endpoints, done.signal);
    const keys = { endpoints, mode: "values", sequence: name, count: countEach, callers: 4, timeout_ms: 2_000 };
    const issuing = programs.map((program, index) =>
      program.run<IssueResult>(["issue", { ...keys, out: files[index]! }]),
    );
    await Promise.all([...issuing, killing]);
    done.abort();
    return { kills, ofPrograms: readIdFiles(files), ofCurl: await curl };
  } finally {
    done.abort();
    await proxy.stop();
    await server.stop("SIGTERM");
  }
}

async function nextValue(url: string): Promise<number> {
  const request = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ name }) };
  const response = await fetch(`${url}/snowlane.v1.SequenceService/GetSequence`, request);
  const { sequence } = (await response.json()) as { readonly sequence?: { readonly nextValue: string } };
  return Number(sequence?.nextValue ?? 0);
}

/** Calls NextValue by curl, 200 times a process, until the signal; the values that came. */
async function takeByCurl(endpoints: string, signal: AbortSignal): Promise<readonly bigint[]> {
  const args = ["--silent", "--max-time", "20", "--header", "content-type: application/json"];
  const call = [...args, "--data", JSON.stringify({ name })];
  const values: bigint[] = [];
  while (!signal.aborted) {
    // It fails while the server is dead; what it printed before that was handed out.
    const { stdout } = await promisify(execFile)("curl", [
      ...call,
      `${endpoints}/snowlane.v1.SequenceService/NextValue?[1-200]`,
    ]).catch((error: unknown) => error as { readonly stdout: string });
    for (const [, value = ""] of stdout.matchAll(/"value":"(\d+)"/g)) values.push(BigInt(value));
  }
  return values;
}
