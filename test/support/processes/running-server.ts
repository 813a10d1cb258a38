import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { systemClock } from "../../../src/clock/clock.ts";
import { formatAddress } from "../../../src/config/address.ts";
import { loadSettings, refuseProblems } from "../../../src/config/load-settings.ts";
import { serverSettings } from "../../../src/config/server-settings.ts";
import { resolveServer } from "../../../src/config/resolve-server.ts";
import { valueOf } from "../../../src/config/resolved.ts";
import { createLog } from "../../../src/server/log.ts";
import { type Server, startServer } from "../../../src/server/start-server.ts";

/** A server of this process, on a free port of its own, with an SQLite store of its own. */
export interface RunningServer {
  readonly server: Server;
  /** Looks at once whether the files of TLS and of principals have changed. */
  readonly reload: () => void;
  /** `127.0.0.1:PORT`. */
  readonly address: string;
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** Log lines so far; grows. */
  readonly log: readonly string[];
  /** Errors that would have ended the process; grows. */
  readonly faults: readonly unknown[];
}

/** Makes a folder that is gone when the test is over. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A server of this process that may still wait for its worker ID. */
export interface BegunServer extends Pick<RunningServer, "log" | "faults" | "reload"> {
  /** Resolves when it serves. */
  readonly starting: Promise<Server>;
  /** Gives up the start, or stops the server. */
  readonly end: () => Promise<void>;
}

/** Begins to start a server with settings by name, as flags would say them. */
export function beginServer(flags: Readonly<Record<string, string>>): BegunServer {
  const http2 = process.env["SNOWLANE_TEST_HTTP2"];
  const all = { listen: "127.0.0.1:0", ...(http2 === undefined ? {} : { http2 }), ...flags };
  const { values: config, problems } = loadSettings(serverSettings, { flags: all, environment: {} });
  if (problems.length > 0) refuseProblems(problems);
  const log: string[] = [];
  const faults: unknown[] = [];
  const given = new AbortController();
  let look: (() => void) | undefined;
  const starting = startServer({
    config,
    worker: valueOf(resolveServer(config, {})),
    traceSettings: undefined,
    log: createLog({
      level: "debug",
      format: "json",
      write: (line) => log.push(line),
      nowMs: () => systemClock.nowMs(),
    }),
    readLostLines: () => 0,
    clock: systemClock,
    onFault: (error) => faults.push(error),
    signal: given.signal,
    onReloadable: (found) => void (look = found),
  });
  const end = async (): Promise<void> => {
    given.abort();
    const server = await starting.catch(() => undefined);
    await server?.stop();
  };
  return { starting, log, faults, reload: () => look?.(), end };
}

/** Starts a server with settings by name, as flags would say them; it is stopped when the test is over. */
export async function runServer(flags: Readonly<Record<string, string>> = {}): Promise<RunningServer> {
  const store = `sqlite:${join(temporaryFolder(), "snowlane.db")}`;
  const { starting, log, faults, reload, end } = beginServer({ store, ...flags });
  const server = await starting;
  onTestFinished(end);
  const address = formatAddress(server.address);
  return { server, reload, address, url: `http://${address}`, log, faults };
}
