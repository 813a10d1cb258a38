/** The checks of `snowlane doctor` on this machine: its clock, and the address that serve would listen on. */
import { constants, existsSync, readFileSync } from "node:fs";
import { access } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { systemClock } from "../../clock/clock.ts";
import { type Address, formatAddress, socketPathOf } from "../../config/address.ts";
import type { ServerConfig } from "../../config/server-settings.ts";
import { IdService } from "../../gen/snowlane/v1/id_service_pb.ts";
import { fitConnections, readOpenFilesMax } from "../../server/listen/open-files.ts";
import type { Layout } from "../../snowflake/layout.ts";
import { checkWallClock } from "../../worker/start-checks.ts";
import { exitCodes } from "../exit-code.ts";
import { fail, failOf, type Finding, ok, warn } from "./finding.ts";

const clocksource = "/sys/devices/system/clocksource/clocksource0";
/** Clock sources that are steady and quick to read. Others are slow, coarse, or the kernel's second choice. */
const goodSources: ReadonlySet<string> = new Set([
  "tsc",
  "kvm-clock",
  "hyperv_clocksource_tsc_page",
  "xen",
  "arch_sys_counter",
]);
/** Written by systemd-timesyncd once it has set the clock, and never by others. */
const timesyncFile = "/run/systemd/timesync/synchronized";

/** Checks the wall clock and its source. */
export function checkMachineClock(layout: Layout): readonly Finding[] {
  return [checkDate(layout), checkSource(readSource("current_clocksource")), checkSync(existsSync(timesyncFile))];
}

function checkDate(layout: Layout): Finding {
  try {
    const nowMs = systemClock.nowMs();
    checkWallClock(nowMs, layout);
    return ok("clock", `The wall clock says ${new Date(nowMs).toISOString()}.`);
  } catch (error) {
    return failOf("clock", error, "Let NTP set the clock, then start again.");
  }
}

/** An entry of the kernel; undefined where there is none (no Linux, or a sandbox). */
function readSource(name: string): string | undefined {
  try {
    return readFileSync(`${clocksource}/${name}`, "utf8").trim();
  } catch {
    return undefined;
  }
}

function checkSource(source: string | undefined): Finding {
  if (source === undefined) return ok("clock source", "This system does not show the source of its clock.");
  if (goodSources.has(source)) return ok("clock source", `The kernel takes its time from ${source}.`);
  const others = readSource("available_clocksource") ?? "";
  const detail = `The kernel takes its time from ${source}, which is slow or coarse (available: ${others}).`;
  return warn(
    "clock source",
    detail,
    "Look in the kernel's log for why it left tsc, or choose another virtual machine.",
  );
}

function checkSync(isKnown: boolean): Finding {
  if (isKnown) return ok("clock sync", "systemd-timesyncd has set the clock since the machine started.");
  const detail = "This check cannot see whether NTP keeps the clock right.";
  return ok("clock sync", `${detail} chronyc tracking or timedatectl shows it; for a container, ask on the host.`);
}

/** Checks whether the limit of open files leaves room for as many connections as are allowed. */
export function checkOpenFiles(settings: ServerConfig, openFilesMax = readOpenFilesMax()): Finding {
  const wanted = settings.connectionsMax;
  if (openFilesMax === undefined) return ok("open files", "This system does not show a limit of open files.");
  const { connectionsMax } = fitConnections(settings, openFilesMax);
  const limit = `The limit of open files is ${openFilesMax}`;
  if (connectionsMax >= wanted) return ok("open files", `${limit}: enough for ${wanted} connections.`);
  const hint = "Raise the hard limit (ulimit -n, LimitNOFILE=), or lower --connections-max.";
  return warn("open files", `${limit}: serve takes ${connectionsMax} connections instead of ${wanted}.`, hint);
}

/** Long enough for a busy server, short enough for a user who waits. */
const askTimeoutMs = 2_000;

/** Checks whether serve could listen on an address, and if not, which server does. */
export async function checkAddress(listen: Address, reusePort: boolean): Promise<Finding> {
  const shown = formatAddress(listen);
  const socket = socketPathOf(listen);
  if (socket !== undefined) return await checkSocket(socket, shown);
  if (listen.port === 0) return ok("address", `${listen.host} with a port that the system chooses.`);
  const code = await tryToBind(listen, reusePort);
  if (code === undefined) return ok("address", `${shown} is free.`);
  if (code !== "EADDRINUSE") {
    const hint = "Choose another address with --listen.";
    return fail("address", `${shown} cannot be listened on (${code}).`, hint, exitCodes.address);
  }
  const server = await askWhoServes(listen);
  if (server !== undefined) {
    const hint = "Stop it first, choose another address with --listen, or let both share it with --reuse-port.";
    return fail("address", `A Snowlane ${server} serves on ${shown} already.`, hint, exitCodes.address);
  }
  const hint = "Stop the program that listens there, or choose another address with --listen.";
  return fail("address", `${shown} is in use, and not by a Snowlane without TLS.`, hint, exitCodes.address);
}

/** A socket that is there is not looked at more closely: serve removes it where no process listens on it. */
async function checkSocket(path: string, shown: string): Promise<Finding> {
  const code = await access(dirname(path), constants.W_OK).then(
    () => undefined,
    ({ code: refused }: NodeJS.ErrnoException) => refused,
  );
  if (code === undefined) return ok("address", `${shown}: its folder can be written.`);
  const hint = "Give a folder that this user can write, with --listen.";
  return fail("address", `${shown} cannot be made (${code}).`, hint, exitCodes.address);
}

/** @returns Why it cannot be done; undefined if it can. */
function tryToBind({ host, port }: Address, reusePort: boolean): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true, reusePort }, () => server.close(() => resolve(undefined)));
  });
}

/** @returns Its version and worker ID; undefined if no Snowlane answers. */
async function askWhoServes({ host, port }: Address): Promise<string | undefined> {
  // A server that listens on every address answers on loopback.
  const reachable = { "0.0.0.0": "127.0.0.1", "::": "::1" }[host] ?? host;
  const baseUrl = `http://${formatAddress({ host: reachable, port })}`;
  const transport = createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false });
  try {
    const info = await createClient(IdService, transport).getInfo({}, { timeoutMs: askTimeoutMs });
    return `${info.version.replaceAll(/[^ -~]/g, "?")} (worker ID ${info.datacenterId}/${info.workerId})`;
  } catch {
    return undefined;
  }
}
