/** A server whose surroundings fail: its descriptors, the reader of its log, the disk under its log. */
import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { scrape } from "../support/metrics/scrape.ts";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { bundledSnowlane } from "../support/processes/server-bundle.ts";
import { startSnowlane, type SnowlaneProcess } from "../support/processes/snowlane-process.ts";
import {
  callNextId,
  callRefused,
  giveBack,
  LogPipe,
  startLoggingTo,
  surroundings,
  takeAway,
} from "../support/processes/surroundings.ts";
import { until } from "../support/processes/until.ts";
import { scale } from "../support/worlds/scale.ts";

const timeoutMs = 300_000;
const json = { "content-type": "application/json" };

async function startLimited(filesMax: number): Promise<SnowlaneProcess> {
  const program = ["sh", "-c", `ulimit -n ${filesMax} && exec "$@"`, "sh", ...(await bundledSnowlane())];
  const store = `sqlite:${join(temporaryFolder(), "ids.db")}`;
  const server = await startSnowlane({ args: ["--store", store, "--renewal-period", "500ms"], program });
  onTestFinished(() => void server.child.kill("SIGKILL"));
  return server;
}

/** Opens connections that ask once and then keep silent. */
function openIdle(address: string, count: number): readonly Socket[] {
  const [host, port] = address.split(":");
  const sockets = Array.from({ length: count }, () => connect({ host, port: Number(port) }));
  for (const socket of sockets) {
    socket.on("error", () => undefined);
    socket.resume();
    socket.write("GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n");
  }
  onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
  return sockets;
}

// A renewal opened /dev/urandom each time, so that anyone who could open connections ended the process.
test("OPERATIONS 1: a server whose connections use up its descriptors renews, is scraped and issues IDs", {
  timeout: timeoutMs,
}, async () => {
  const server = await startLimited(128);
  expect(server.log).toContainEqual(
    expect.objectContaining({
      message: "The limit of open files leaves room for fewer connections",
      connectionsMax: 64,
      wanted: 10_000,
      openFilesMax: 128,
    }),
  );
  openIdle(server.address, 400);
  const counts: number[] = [];
  await until("three renewals beside the crowd", async () => {
    // A connection of the crowd makes room for this one once it has been idle for a second.
    const samples = await scrape(server.url).catch(() => undefined);
    if (server.child.exitCode !== null) throw new Error(`ended with ${server.child.exitCode}`);
    if (samples === undefined) return false;
    expect(samples.get("process_max_fds")).toBe(128);
    counts.push(samples.get('snowlane_worker_events_total{event="renewed"}')!);
    return counts.at(-1)! >= counts[0]! + 3;
  });
  expect(await callNextId(server.url)).toBe(200);
  expect(await server.stop("SIGTERM")).toBe(0);
});

/** Starts a server whose log goes to a given descriptor or pipe, and resolves when it serves. */
async function startLogging(options: Omit<Parameters<typeof startLoggingTo>[0], "storeFile">) {
  const server = await startLoggingTo({ storeFile: join(temporaryFolder(), "ids.db"), ...options });
  onTestFinished(() => void server.child.kill("SIGKILL"));
  return server;
}

async function lostLines(url: string): Promise<number> {
  return (await scrape(url)).get("snowlane_log_lines_lost_total") ?? 0;
}

// The process ended with code 0, without a drain.
test("OPERATIONS 2: a server goes on when the reader of its log leaves, and counts the lines that it loses", {
  timeout: timeoutMs,
}, async () => {
  const { child, url, stop } = await startLogging({ stderr: "pipe" });
  child.stderr!.destroy();
  await until("a line is lost", async () => {
    expect(await callRefused(url)).toBe(403);
    return (await lostLines(url)) > 0;
  });
  expect(await callNextId(url)).toBe(200);
  expect(await stop("SIGTERM")).toBe(0);
});

// The process ended with code 70.
test.each([
  ["the log", ["--log-format", "json"]],
  ["the log for people and the lines at the start", ["--log-format", "text"]],
])("OPERATIONS 3: a server goes on when the disk of %s is full", { timeout: timeoutMs }, async (_what, args) => {
  const full = openSync("/dev/full", "w");
  onTestFinished(() => closeSync(full));
  const { url, stop } = await startLogging({ stderr: full, stdout: full, args });
  expect(await callRefused(url)).toBe(403);
  expect(await lostLines(url)).toBeGreaterThan(0);
  expect(await callNextId(url)).toBe(200);
  expect(await stop("SIGTERM")).toBe(0);
});

test("the first line of a log that can be written again says how many were lost", { timeout: timeoutMs }, async () => {
  const log = new LogPipe(join(temporaryFolder(), "log"));
  onTestFinished(() => log.close());
  const writer = log.openWriter();
  const { url, stop } = await startLogging({ stderr: writer });
  log.close();
  closeSync(writer);
  await until("a line is lost", async () => {
    await callRefused(url);
    return (await lostLines(url)) > 0;
  });
  log.open();
  let text = "";
  await until("it says so", async () => {
    await callRefused(url);
    text += log.read();
    return text.includes('"The log can be written again","lostCount":');
  });
  expect(await stop("SIGTERM")).toBe(0);
});

// Node opened its debugger to every user of the machine, and SIGUSR2 ended the server without a drain.
test("OPERATIONS 6: SIGUSR1 and SIGUSR2 have no meaning to a server: it says so, opens no debugger, and goes on", {
  timeout: timeoutMs,
}, async () => {
  const store = `sqlite:${join(temporaryFolder(), "ids.db")}`;
  const server = await startSnowlane({ args: ["--store", store] });
  onTestFinished(() => void server.child.kill("SIGKILL"));
  for (const signal of ["SIGUSR1", "SIGUSR2"] as const) {
    server.child.kill(signal);
    await until(`a line about ${signal}`, () => {
      if (server.child.signalCode !== null) throw new Error(`ended by ${server.child.signalCode}`);
      const lines = server.log.map((line) => JSON.stringify(line)).join("\n");
      expect(lines).not.toContain("Debugger");
      return lines.includes(`"This signal has no meaning here","signal":"${signal}"`);
    });
  }
  expect(await callNextId(server.url)).toBe(200);
  expect(await server.stop("SIGTERM")).toBe(0);
});

/** Runs a command with its output in a file, by a shell. */
async function runWithOutput(redirection: string, args: readonly string[]) {
  return runShell(["-c", `"$@" ${redirection}`, "sh", ...(await bundledSnowlane()), ...args]);
}

async function runShell(args: readonly string[]) {
  const child = spawn("sh", args, { stdio: ["ignore", "ignore", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, "close")) as [number];
  return { code, stderr };
}

// Code 70, without a word.
test("OPERATIONS 3 and NEWCOMER 3: a command that prints says that its output cannot be written, and ends with 1", {
  timeout: timeoutMs,
}, async () => {
  const refused = { code: 1, stderr: expect.stringMatching(/^snowlane: The output cannot be written: ENOSPC.*\.\n$/) };
  expect(await runWithOutput("> /dev/full", ["layouts"])).toEqual(refused);
  expect(await runWithOutput("> /dev/full", ["parse", "1541815603606036480"])).toEqual(refused);
  expect(await runWithOutput("> /dev/full", ["--version"])).toEqual(refused);
});

test("a command whose output a limit of the disk cuts short does not end well", { timeout: timeoutMs }, async () => {
  const path = join(temporaryFolder(), "layouts");
  const { code, stderr } = await runWithOutput(`> ${path}`, ["layouts"]);
  expect([code, stderr]).toEqual([0, ""]);
  const whole = readFileSync(path).length;
  expect(whole).toBeGreaterThan(512);
  // The shell's unit is 512 bytes.
  const args = ["-c", `ulimit -f 1 && exec "$@" > ${path}`, "sh", ...(await bundledSnowlane()), "layouts"];
  expect(await runShell(args)).toEqual({
    code: 1,
    stderr: expect.stringMatching(/^snowlane: The output cannot be written: EFBIG/),
  });
});

test("messages that nobody can read are not a reason to end", { timeout: timeoutMs }, async () => {
  const { code } = await runWithOutput("2> /dev/full", ["parse", "no-id"]);
  expect(code).toBe(1);
});

/** Calls on one connection, one after the other, until it is stopped; counts what was not answered with an ID. */
function startCaller(url: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const counts = { good: 0, failed: 0 };
  const over = new AbortController();
  const callOne = async (): Promise<boolean> => {
    const call = request(`${url}/snowlane.v1.IdService/NextId`, { method: "POST", headers: json, agent });
    call.end("{}");
    const [response] = (await once(call, "response")) as [IncomingMessage];
    for await (const _chunk of response);
    return response.statusCode === 200;
  };
  const loop = async (): Promise<void> => {
    while (!over.signal.aborted) counts[(await callOne().catch(() => false)) ? "good" : "failed"] += 1;
  };
  const ends = loop();
  const stop = async (): Promise<void> => {
    over.abort();
    await ends;
  };
  return { counts, stop };
}

// A longer run: SNOWLANE_TEST_SCALE=20, which is some minutes.
test("no call fails while descriptors, the disk and the reader of the log come and go", {
  timeout: timeoutMs * 4,
}, async () => {
  const log = new LogPipe(join(temporaryFolder(), "log"));
  onTestFinished(() => log.close());
  const writer = log.openWriter();
  const server = await startLogging({ stderr: writer });
  const { child, url, stop } = server;
  closeSync(writer);
  const callers = [startCaller(url), startCaller(url)];
  const answered = (): number => callers.reduce((sum, { counts }) => sum + counts.good, 0);
  const moreCalls = async (count: number): Promise<void> => {
    const before = answered();
    await until(`${count} more calls`, () => {
      if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`);
      return answered() >= before + count;
    });
  };
  await moreCalls(100);
  for (let round = 0; round < 4 * scale; round += 1) {
    for (const what of surroundings) {
      takeAway(what, server, log);
      if (what === "log") await callRefused(url);
      await moreCalls(500);
      giveBack(what, server, log);
    }
    await callRefused(url);
    await moreCalls(500);
  }
  await Promise.all(callers.map((caller) => caller.stop()));
  expect(callers.map(({ counts }) => counts.failed)).toEqual([0, 0]);
  expect(await lostLines(url)).toBeGreaterThan(0);
  expect(await stop("SIGTERM")).toBe(0);
});
