/** `--listen unix:/PATH`: programs on one machine call without TLS and without a token. */
import { existsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runInProcess } from "../cli/in-process.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { runServer, temporaryFolder } from "../support/processes/running-server.ts";
import { startSnowlane } from "../support/processes/snowlane-process.ts";

/** A path for a socket that does not exist yet. */
function socketPath(): string {
  return join(temporaryFolder(), "ids.sock");
}

/** A process that serves on a socket. */
async function startOn(path: string, ...more: readonly string[]) {
  const args = ["--store", `sqlite:${join(temporaryFolder(), "ids.db")}`, ...more];
  const server = await startSnowlane({ listen: `unix:${path}`, args });
  onTestFinished(async () => void (await server.stop("SIGKILL")));
  return server;
}

test("FIELD F11 (d): curl and every command with --server reach a server on a socket, over HTTP/1.1 and gRPC", async () => {
  const path = socketPath();
  const { address } = await runServer({ listen: `unix:${path}` });
  expect(address).toBe(`unix:${path}`);
  const json = ["-H", "content-type: application/json", "-d", "{}"];
  const call = ["-sS", "--unix-socket", path, ...json, "http://localhost/snowlane.v1.IdService/NextId"];
  const answer = await runCommand("curl", call);
  expect(JSON.parse(answer)).toMatchObject({ id: expect.stringMatching(/^\d{19}$/) });
  for (const command of [["next", "-n", "1000"], ["status"], ["health"], ["workers"], ["whoami"], ["sequences"]]) {
    const { code, stderr } = await runInProcess([...command, "--server", `unix:${path}`]);
    expect([command[0], code, stderr]).toEqual([command[0], 0, ""]);
  }
});

test("the mode of the socket is 0600, or that of --socket-mode, and the socket is gone after the server", async () => {
  const [own, shared] = [socketPath(), socketPath()];
  const modeOf = (path: string): number => statSync(path).mode & 0o777;
  const server = await startOn(own);
  await startOn(shared, "--socket-mode", "0666");
  expect([modeOf(own), modeOf(shared)]).toEqual([0o600, 0o666]);
  expect(await server.stop("SIGTERM")).toBe(0);
  expect(existsSync(own)).toBe(false);
});

test("the socket that a killed server left is taken over; one that a server listens on, and a file, are not", async () => {
  const path = socketPath();
  const killed = await startOn(path);
  await killed.stop("SIGKILL");
  expect(existsSync(path)).toBe(true);
  await startOn(path);
  await expect(startOn(path)).rejects.toThrow(/ended with 3, .*is in use/s);
  expect((await runInProcess(["health", "--server", `unix:${path}`])).code).toBe(0);
  const file = join(temporaryFolder(), "file");
  writeFileSync(file, "");
  await expect(startOn(file)).rejects.toThrow(/ended with 3, .*is in use/s);
  expect(existsSync(file)).toBe(true);
});

test("a relative or long path, --reuse-port and a folder that is not there are refused with what to do", async () => {
  const refusedWith = async (listen: string, ...more: readonly string[]) =>
    (await runInProcess(["serve", "--dry-run", "--listen", listen, "--store", "sqlite:ids.db", ...more])).stderr;
  expect(await refusedWith("unix:ids.sock")).toContain("unix: and a whole path of at most 107 bytes");
  expect(await refusedWith(`unix:/${"a".repeat(107)}`)).toContain("at most 107 bytes");
  expect(await refusedWith("unix:/tmp/a.sock", "--reuse-port")).toContain("one process alone can listen");
  expect(await refusedWith("unix:/tmp/a.sock", "--socket-mode", "rw")).toContain("three octal digits");
  await expect(startOn("/nonexistent-folder/ids.sock")).rejects.toThrow(/ended with 3, .*its folder is not there/s);
  const none = await runInProcess(["status", "--server", `unix:${socketPath()}`]);
  expect([none.code, none.stderr]).toEqual([1, expect.stringMatching(/^No server answers at unix:/)]);
});

test("two servers of one machine on sockets have instance names of their own", async () => {
  const store = `sqlite:${join(temporaryFolder(), "ids.db")}`;
  const paths = [socketPath(), socketPath()];
  for (const path of paths) await runServer({ listen: `unix:${path}`, store });
  const { stdout } = await runInProcess(["workers", "--store", store]);
  for (const path of paths) expect(stdout).toContain(`:${path}`);
});
