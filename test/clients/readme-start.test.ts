import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { makeBareClone, pathOfReader, runReadmeBlock } from "../support/processes/bare-clone.ts";
import { blocksOf } from "../support/processes/page-blocks.ts";
import { runCommand } from "../support/processes/run-command.ts";

/** The first lines of README.md and docs/getting-started.md, on a clone without any package, with this Node and npm. */
const clone = mkdtempSync(join(tmpdir(), "snowlane-clone-"));
const env = {
  PATH: pathOfReader(),
  npm_config_prefer_offline: "true",
  SNOWLANE_LISTEN: "127.0.0.1:0",
  SNOWLANE_RESUME_DIR: "off",
  // The default store, but not that of the user who runs the tests.
  XDG_STATE_HOME: join(clone, "state"),
};
let server: ReturnType<typeof startByReadme>;

/** Runs the first block of the README, which serves until it is stopped, as a group of processes of its own. */
function startByReadme() {
  const [line = ""] = blocksOf("README.md", "sh");
  return spawn("sh", ["-e", "-c", line], { cwd: clone, detached: true, env: { ...process.env, ...env } });
}

/** The address in what the server prints once it serves. */
async function addressOf({ stdout, stderr }: typeof server): Promise<string> {
  const serving = Promise.withResolvers<string>();
  let printed = "";
  for (const stream of [stdout, stderr]) {
    stream.on("data", (chunk: Buffer) => {
      printed += chunk.toString();
      const [, address] = /curl .*http:\/\/(127\.0\.0\.1:\d+)\//.exec(printed) ?? [];
      if (address !== undefined) serving.resolve(address);
    });
  }
  void once(server, "exit").then(([code]) => serving.reject(new Error(`npm start left with ${code}:\n${printed}`)));
  return await serving.promise;
}

beforeAll(async () => {
  await makeBareClone(clone);
});

/** Ends what a start of the README has left running. */
function kill(started: ReturnType<typeof startByReadme> | undefined): void {
  if (started?.pid !== undefined && started.exitCode === null && started.signalCode === null)
    process.kill(-started.pid, "SIGKILL");
}

afterAll(async () => {
  kill(server);
  rmSync(clone, { recursive: true, force: true, maxRetries: 10, retryDelay: 500 });
});

test("Ctrl-C in the middle of the install waits for its end, so that the next one has the folder to itself", async () => {
  const interrupted = startByReadme();
  onTestFinished(() => kill(interrupted));
  const group = interrupted.pid ?? 0;
  interrupted.stdout.resume();
  let errors = "";
  interrupted.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  const isInstalling = () => existsSync(join(clone, "node_modules"));
  await expect.poll(isInstalling, { timeout: 120_000 }).toBe(true);
  process.kill(-group, "SIGINT");
  await once(interrupted, "close");
  expect(() => process.kill(-group, 0)).toThrow("ESRCH");
  // It named a failure where there was none.
  expect(errors).not.toContain("npm ci failed");
});

test("npm start serves, the curl line gets an ID, and npx snowlane makes one without the server", async () => {
  server = startByReadme();
  const address = await addressOf(server);
  const answer = await runReadmeBlock("README.md", 1, { cwd: clone, places: { "127.0.0.1:7609": address } });
  expect(JSON.parse(answer)).toEqual({ id: expect.stringMatching(/^\d{18,19}$/), deployment: expect.any(Number) });
  expect(await runCommand("npx", ["snowlane", "next"], { cwd: clone, env })).toMatch(/^\d{18,19}\n$/);
  // Its output ends when the last process of the group has ended.
  const ended = once(server, "close");
  process.kill(-(server.pid ?? 0), "SIGTERM");
  await ended;
});
