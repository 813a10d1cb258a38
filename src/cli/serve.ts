import { InvariantError } from "../assert.ts";
import { systemClock } from "../clock/clock.ts";
import { formatAddress, socketPathOf } from "../config/address.ts";
import { type ServerConfig, serverSettings } from "../config/server-settings.ts";
import type { Setting } from "../config/setting.ts";
import { serverSettingGroups } from "../config/setting-groups.ts";
import { onOff } from "../config/setting-kinds.ts";
import { resolveServer, type WorkerChoice } from "../config/resolve-server.ts";
import { resolveTraces } from "../config/trace-settings.ts";
import { problemsOf, valueOf } from "../config/resolved.ts";
import { redactUrl } from "../config/store-url.ts";
import { version } from "../version.ts";
import type { Log, LogOptions } from "../server/log.ts";
import { checkWallClock } from "../worker/start-checks.ts";
import type { Command, CommandContext } from "./command.ts";
import { CommandError, exitCodes } from "./exit-code.ts";
import { type Paint, paintFor } from "./paint.ts";

const options = {
  dryRun: onOff({
    name: "dryRun",
    doc: "Checks the configuration, and prints it with the source of each value. Starts nothing and uses no store.",
  }),
};

/** `snowlane serve`. */
export const serve: Command<typeof serverSettings, typeof options> = {
  name: "serve",
  summary: "Serves IDs over gRPC, gRPC-Web and Connect on one port",
  outlivesOutput: true,
  settings: serverSettings,
  groups: serverSettingGroups,
  options,
  examples: [
    "snowlane serve",
    "snowlane serve --store sqlite:/var/lib/snowlane/ids.db --datacenter-id 3",
    "snowlane serve --listen 0.0.0.0:7609 --principals principals.json --store postgres://snowlane@db/snowlane",
    "snowlane serve --config snowlane.json --dry-run",
  ],
  check: (settings, _options, environment) => problemsOf(resolveServer(settings, environment)),
  run: async ({ settings, places, options, ...context }) => {
    const choice = valueOf(resolveServer(settings, context.environment));
    if (!options.dryRun) return await runServer(settings, choice, context);
    // Refuses everything that a start would refuse before it reads the store.
    checkWallClock(systemClock.nowMs(), choice.layout);
    context.stdout.write(shownConfig(settings, places, choice));
    return exitCodes.done;
  },
};

/** Every setting with its value and the place where it was given. */
function shownConfig(
  config: ServerConfig,
  places: Readonly<Record<keyof ServerConfig, string>>,
  { layout, storeUrl, resumeFolder }: WorkerChoice,
): string {
  const resolved: Partial<Record<keyof ServerConfig, string>> = {
    storeUrl: redactUrl(storeUrl),
    layoutName: layout.name,
    resumeDir: resumeFolder ?? "off",
  };
  const rows = (Object.keys(serverSettings) as (keyof ServerConfig)[]).map((key) => {
    const setting: Setting<unknown> = serverSettings[key];
    const value = resolved[key] ?? (config[key] === undefined ? "-" : setting.format(config[key]));
    return [setting.name, value, places[key]] as const;
  });
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column as 0 | 1].length)));
  return rows
    .map(([name, value, place]) => `${name.padEnd(widths[0]!)}  ${value.padEnd(widths[1]!)}  ${place}\n`)
    .join("");
}

async function runServer(config: ServerConfig, worker: WorkerChoice, context: CommandContext): Promise<number> {
  const { process, stdout, stderr } = context;
  const [{ startServer }, { createLog }, { LogWriter }, { startMessage, startFields }, { listenForStop }] =
    await Promise.all([
      import("../server/start-server.ts"),
      import("../server/log.ts"),
      import("../server/log-writer.ts"),
      import("../server/start-message.ts"),
      import("../server/stop-signal.ts"),
    ]);
  const format = config.logFormat === "auto" ? (isWatched(context) ? "text" : "json") : config.logFormat;
  const lines = new LogWriter(stderr, (lostCount) => log.warn("The log can be written again", { lostCount }));
  const write = (line: string): void => lines.write(line);
  const paint = paintLevel(paintFor(stderr, context.environment));
  const log: Log = createLog({ level: config.logLevel, format, write, nowMs: () => systemClock.nowMs(), paint });
  const onFault = (error: unknown): void => {
    log.error("A fault of this program", { error });
    // No further ID may be issued after a broken invariant.
    if (error instanceof InvariantError) process.exit(exitCodes.fault);
  };
  process.on("uncaughtException", (error) => {
    log.error("A fault of this program, which ends it", { error });
    process.exit(exitCodes.fault);
  });
  // SIGUSR2 would end a server without a drain. Tools that rotate logs send these signals.
  for (const name of ["SIGUSR1", "SIGUSR2"] as const) {
    process.on(name, () => log.info("This signal has no meaning here", { signal: name }));
  }
  const traceSettings = valueOf(resolveTraces(context.environment));
  const stop = listenForStop(process, systemClock);
  const { signal } = stop;
  let look: (() => void) | undefined;
  const reload = (): void => look?.();
  // Without such files SIGHUP keeps its meaning: the terminal has gone. With them it never ends a server, not even one
  // that waits for its worker ID or drains.
  if (config.tlsCert !== undefined || config.principals !== undefined) process.on("SIGHUP", reload);
  try {
    const onReloadable = (found: () => void): void => void (look = found);
    const readLostLines = (): number => lines.lostCount;
    const parts = { config, worker, traceSettings, log, readLostLines, clock: systemClock };
    const server = await startServer({ ...parts, onFault, signal, onReloadable });
    const security = config.tlsCert === undefined ? "cleartext" : "tls";
    const told = { server, storeUrl: worker.storeUrl, version, security, page: config.page } as const;
    const facts = { ...told, nowMs: systemClock.nowMs() };
    if (format === "json") log.info("Serves IDs", startFields(facts));
    else stdout.write(startMessage(facts));
    await aborted(signal);
    log.info("Stops", { signal: String(signal.reason) });
    await server.stop();
    log.info("Stopped");
    return exitCodes.done;
  } catch (error) {
    if (signal.aborted) return exitCodes.done;
    throw addressError(error, config) ?? error;
  } finally {
    process.off("SIGHUP", reload);
    stop.dispose();
  }
}

function paintLevel(paint: Paint): NonNullable<LogOptions["paint"]> {
  return (level, word) => (level === "error" ? paint("bad", word) : level === "warn" ? paint("attention", word) : word);
}

/** Tells whether people read the output: on a terminal, and under `npm start`. */
function isWatched({ stdout, stderr, environment }: CommandContext): boolean {
  return stdout.isTTY === true || stderr.isTTY === true || environment["npm_lifecycle_event"] === "start";
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

const addressHints: Readonly<Record<string, string>> = {
  EADDRINUSE: "is in use. Stop the program that listens there, or choose another address",
  EACCES: "is not allowed to this user. Choose a port of 1024 or above",
  EADDRNOTAVAIL: "does not belong to this machine. Choose another address",
  ENOTFOUND: "has an unknown host name. Choose another address",
};

const socketHint = "cannot be made: its folder is not there, or this user may not write it. Choose another path";

function addressError(error: unknown, config: ServerConfig): CommandError | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code = "", syscall = "", port, hostname }: AddressFault = error;
  const { listen, adminListen } = config;
  const isAdmins = adminListen !== undefined && (port === adminListen.port || hostname === adminListen.host);
  const [address, flag] = isAdmins ? [adminListen, "--admin-listen"] : [listen, "--listen"];
  const isOfAddress = ["listen", "getaddrinfo"].includes(syscall);
  const other = isOfAddress ? `cannot be listened on (${code}). Choose another address` : undefined;
  const ofSocket = code === "EACCES" && socketPathOf(address) !== undefined ? socketHint : undefined;
  const hint = ofSocket ?? addressHints[code] ?? other;
  return hint === undefined
    ? undefined
    : new CommandError(`The address ${formatAddress(address)} ${hint} with ${flag}.`, exitCodes.address);
}

/** The fields of the system's errors that describe an address. */
interface AddressFault extends Error {
  readonly code?: string;
  readonly syscall?: string;
  readonly port?: number;
  readonly hostname?: string;
}
