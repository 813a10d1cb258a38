import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findTool } from "../fetch/tools.ts";
import { findFreePort } from "../processes/free-port.ts";
import { ServerProcess } from "./server-process.ts";

/** The target that a Prometheus of a test scrapes, and the rules that it has. */
export interface PrometheusOptions {
  /** `HOST:PORT`. */
  readonly address: string;
  /** The authority of the target's certificate. Absent: cleartext. */
  readonly caFile?: string;
  readonly ruleFiles: readonly string[];
}

/** One series of the answer to a query, with its value. */
interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [time: number, value: string];
}

/** A running Prometheus. */
export interface Prometheus {
  /** The series that an expression has now. @throws Error for one that Prometheus does not take. */
  readonly query: (expression: string) => Promise<readonly Series[]>;
  /** The names of the alerts that its rules define, each with its health. */
  readonly alerts: () => Promise<ReadonlyMap<string, string>>;
  readonly stop: () => Promise<void>;
}

const readyMs = 120_000;

/** Starts Prometheus, which scrapes its target each second. It answers once it is ready. */
export async function startPrometheus({ address, caFile, ruleFiles }: PrometheusOptions): Promise<Prometheus> {
  const { path, env } = await findTool("prometheus");
  const port = await findFreePort();
  const folder = mkdtempSync(join(tmpdir(), "snowlane-prometheus-"));
  const config = {
    global: { scrape_interval: "1s", evaluation_interval: "1s" },
    rule_files: ruleFiles.map((file) => resolve(file)),
    scrape_configs: [
      {
        job_name: "snowlane",
        scheme: caFile === undefined ? "http" : "https",
        ...(caFile === undefined ? {} : { tls_config: { ca_file: caFile } }),
        static_configs: [{ targets: [address] }],
      },
    ],
  };
  // JSON is YAML.
  writeFileSync(join(folder, "prometheus.yml"), JSON.stringify(config));
  const args = [
    `--config.file=${join(folder, "prometheus.yml")}`,
    `--storage.tsdb.path=${join(folder, "data")}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const server = ServerProcess.start({ path, args, env, cwd: folder });
  const ask = async (target: string): Promise<unknown> => {
    const response = await fetch(`http://127.0.0.1:${port}${target}`);
    const { data, error } = (await response.json()) as { readonly data: unknown; readonly error?: string };
    if (error !== undefined) throw new Error(error);
    return data;
  };
  const isReady = async (): Promise<boolean> => {
    const ready = await fetch(`http://127.0.0.1:${port}/-/ready`).catch(() => undefined);
    return ready?.status === 200;
  };
  const endMs = performance.now() + readyMs;
  while (!(await isReady())) {
    if (!server.isRunning || performance.now() > endMs) {
      await server.kill();
      throw new Error(`Prometheus does not get ready:\n${server.output}`);
    }
    await sleep(50);
  }
  return {
    query: async (expression) => {
      const data = await ask(`/api/v1/query?query=${encodeURIComponent(expression)}`);
      return (data as { readonly result: readonly Series[] }).result;
    },
    alerts: async () => {
      const { groups } = (await ask("/api/v1/rules")) as {
        readonly groups: readonly { readonly rules: readonly { readonly name: string; readonly health: string }[] }[];
      };
      return new Map(groups.flatMap(({ rules }) => rules.map(({ name, health }) => [name, health])));
    },
    stop: async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
