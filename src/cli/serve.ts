import { InvariantError } from "../assert.ts";
import { systemClock } from "../clock.ts";
import { type Address, formatAddress } from "../config/address.ts";
import { type ServerConfig, serverSettings } from "../config/server-settings.ts";
import type { Setting } from "../config/setting.ts";
import { onOff } from "../config/setting-kinds.ts";
import { settleServer, type WorkerChoice } from "../config/settle-server.ts";
import { problemsOf, valueOf } from "../config/settled.ts";
import { redactUrl } from "../config/store-url.ts";
import { version } from "../version.ts";
import { checkWallClock } from "../worker/start-checks.ts";
import type { Command, Surroundings } from "./command.ts";
import { CommandError, exitCodes } from "./exit-code.ts";

const options = {
  dryRun: onOff({
    name: "dryRun",
    doc: "Checks and prints the configuration, and where each value was said. Starts nothing and touches no store.",
  }),
};

/** `snowlane serve`. */
export const serve: Command<typeof serverSettings, typeof options> = {
  name: "serve",
  summary: "Serves IDs over gRPC, gRPC-Web and Connect on one port",
  settings: serverSettings,
  options,
  examples: [
    "snowlane serve",
    "snowlane serve --store sqlite:/var/lib/snowlane/ids.db --datacenter-id 3",
    "snowlane serve --listen 0.0.0.0:7609 --auth none --store postgres://snowlane@db/snowlane",
    "snowlane serve --config snowlane.json --dry-run",
  ],
  check: (settings, _options, environment) => problemsOf(settleServer(settings, environment)),
  run: async ({ settings, places, options, ...around }) => {
    const choice = valueOf(settleServer(settings, around.environment));
    if (!options.dryRun) return await runServer(settings, choice, around);
    // What a start would refuse without a look at the store.
    checkWallClock(systemClock.nowMs(), choice.layout);
    around.stdout.write(shownConfig(settings, places, choice));
    return exitCodes.done;
  },
};

/** Every setting with its value and where it was said. */
function shownConfig(
  config: ServerConfig,
  places: Readonly<Record<keyof ServerConfig, string>>,
  { layout, storeUrl, resumeFolder }: WorkerChoice,
): string {
  const settled: Partial<Record<keyof ServerConfig, string>> = {
    storeUrl: redactUrl(storeUrl),
    layoutName: layout.name,
    resumeDir: resumeFolder ?? "off",
  };
  const rows = (Object.keys(serverSettings) as (keyof ServerConfig)[]).map((key) => {
    const setting: Setting<unknown> = serverSettings[key];
    const value = settled[key] ?? (config[key] === undefined ? "-" : setting.format(config[key]));
    return [setting.name, value, places[key]] as const;
  });
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column as 0 | 1].length)));
  return rows
    .map(([name, value, place]) => `${name.padEnd(widths[0]!)}  ${value.padEnd(widths[1]!)}  ${place}\n`)
    .join("");
}

async function runServer(config: ServerConfig, worker: WorkerChoice, around: Surroundings): Promise<number> {
  const { process, stdout, stderr } = around;
  const [{ startServer }, { createLog }, { startMessage, startFields }, { listenForStop }] = await Promise.all([
    import("../server/start-server.ts"),
    import("../server/log.ts"),
    import("../server/start-message.ts"),
    import("../server/stop-signal.ts"),
  ]);
  const format = config.logFormat === "auto" ? (isWatched(around) ? "text" : "json") : config.logFormat;
  const write = (line: string): void => void stderr.write(line);
  const log = createLog({ level: config.logLevel, format, write, nowMs: () => systemClock.nowMs() });
  const onFault = (error: unknown): void => {
    log.error("A fault of this program", { error });
    // Not one more ID after a broken invariant.
    if (error instanceof InvariantError) process.exit(exitCodes.fault);
  };
  process.on("uncaughtException", (error) => {
    log.error("A fault of this program, which ends it", { error });
    process.exit(exitCodes.fault);
  });
  const stop = listenForStop(process, systemClock);
  const { signal } = stop;
  try {
    const server = await startServer({ config, worker, log, clock: systemClock, onFault, signal });
    const security = config.tlsCert === undefined ? "cleartext" : "tls";
    const facts = { server, storeUrl: worker.storeUrl, version, security, nowMs: systemClock.nowMs() } as const;
    if (format === "json") log.info("Serves IDs", startFields(facts));
    else stdout.write(startMessage(facts));
    await aborted(signal);
    log.info("Stops", { signal: String(signal.reason) });
    await server.stop();
    log.info("Stopped");
    return exitCodes.done;
  } catch (error) {
    if (signal.aborted) return exitCodes.done;
    throw addressError(error, config.listen) ?? error;
  } finally {
    stop.dispose();
  }
}

/** Whether people read along: on a terminal, and under `npm start`. */
function isWatched({ stdout, stderr, environment }: Surroundings): boolean {
  return stdout.isTTY === true || stderr.isTTY === true || environment["npm_lifecycle_event"] === "start";
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

const addressCures: Readonly<Record<string, string>> = {
  EADDRINUSE: "is in use. Stop what listens there, or choose another with --listen.",
  EACCES: "is not allowed to this user. Choose a port from 1024 on with --listen.",
  EADDRNOTAVAIL: "is none of this machine's. Choose another with --listen.",
  ENOTFOUND: "has an unknown host name. Choose another with --listen.",
};

function addressError(error: unknown, listen: Address): CommandError | undefined {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const isOfAddress =
    error instanceof Error && "syscall" in error && ["listen", "getaddrinfo"].includes(String(error.syscall));
  const other = isOfAddress ? `cannot be listened on (${code}). Choose another with --listen.` : undefined;
  const cure = addressCures[code] ?? other;
  return cure === undefined
    ? undefined
    : new CommandError(`The address ${formatAddress(listen)} ${cure}`, exitCodes.address);
}
