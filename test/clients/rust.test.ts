import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runReadmeBlock } from "../support/processes/bare-clone.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { rustEnvironment } from "../support/processes/rust-client.ts";
import { buildRustFleet } from "../support/processes/rust-fleet.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";
import { sized } from "../support/worlds/scale.ts";

const timeout = 900_000;
const folder = mkdtempSync(join(tmpdir(), "snowlane-rust-"));
const crate = resolve("clients/rust");
let server: SnowlaneProcess;

beforeAll(async () => {
  server = await startSnowlane({ args: ["--store", `sqlite:${join(folder, "ids.db")}`] });
}, timeout);
afterAll(async () => {
  await server.stop("SIGTERM");
  rmSync(folder, { recursive: true, force: true });
});

const cargo = async (args: readonly string[], cwd = crate): Promise<string> =>
  await runCommand("cargo", args, { cwd, env: { ...(await rustEnvironment()), SNOWLANE_URL: server.url } });

test("its own tests and the examples of its documentation hold", { timeout }, async () => {
  await cargo(["test", "--locked", "--quiet"]);
});

test("its code is formatted, and the compiler finds nothing", { timeout }, async () => {
  await cargo(["fmt", "--check"]);
  await cargo(["clippy", "--locked", "--quiet", "--all-targets", "--", "--deny", "warnings"]);
});

test("its least version of Rust is the one that its README says", () => {
  const [, version = ""] = /^rust-version = "(.+)"$/m.exec(readFileSync(join(crate, "Cargo.toml"), "utf8")) ?? [];
  expect(readFileSync(join(crate, "README.md"), "utf8")).toContain(`Rust ${version} `);
});

test("by the lines of docs/frameworks.md no ID comes twice, though a server is killed and the other one frozen", {
  timeout,
}, async () => {
  const fleet = await buildRustFleet(join(folder, "fleet"));
  const start = (listen: string): Promise<SnowlaneProcess> =>
    startSnowlane({ listen, args: ["--store", `sqlite:${join(folder, "fleet.db")}`] });
  const servers = [await start("127.0.0.1:0"), await start("127.0.0.1:0")];
  const each = sized(1_500, 125_000);
  const environment = { ...process.env, SNOWLANE_URL: servers.map(({ url }) => url).join(","), EACH: `${each}` };
  const program = spawn(fleet, { env: environment, stdio: ["ignore", "pipe", "inherit"] });
  const ids: string[] = [];
  const lines = createInterface({ input: program.stdout }).on("line", (line) => ids.push(line));
  const ended = Promise.all([once(program, "exit"), once(lines, "close")]);
  const endMs = performance.now() + timeout;
  const untilTaken = async (share: number): Promise<void> => {
    while (ids.length < share * 8 * each && program.exitCode === null) {
      expect(performance.now(), `${ids.length} of ${8 * each} IDs`).toBeLessThan(endMs);
      await sleep(10);
    }
  };
  try {
    await untilTaken(0.2);
    await servers[0]!.stop("SIGKILL");
    await untilTaken(0.4);
    servers[0] = await start(servers[0]!.address);
    await untilTaken(0.5);
    servers[1]!.child.kill("SIGSTOP");
    await untilTaken(0.8);
    servers[1]!.child.kill("SIGCONT");
    const [[code]] = await ended;
    expect(code).toBe(0);
  } finally {
    program.kill("SIGKILL");
    for (const { child } of servers) child.kill("SIGCONT");
    for (const running of servers) await running.stop("SIGTERM");
  }
  expect(ids).toHaveLength(8 * each);
  expect(new Set(ids).size).toBe(ids.length);
});

test("the lines of its README make a program that gets IDs, by a Unix socket, too", { timeout }, async () => {
  const project = join(folder, "project");
  mkdirSync(join(project, "src"), { recursive: true });
  writeFileSync(join(project, "Cargo.toml"), '[package]\nname = "ids"\nversion = "0.0.0"\nedition = "2024"\n');
  copyFileSync(join(crate, "Cargo.lock"), join(project, "Cargo.lock"));
  writeFileSync(join(project, "src/main.rs"), readFileSync(join(crate, "examples/basic.rs"), "utf8"));
  const places = { "/path/to/snowlane": process.cwd() };
  await runReadmeBlock("clients/rust/README.md", 0, { cwd: project, places });
  const ids = (await cargo(["run", "--quiet"], project)).trim().split("\n").map(BigInt);
  expect(ids).toHaveLength(11);
  expect(ids.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(ids);
  const url = `unix:${join(folder, "ids.sock")}`;
  const local = await startSnowlane({ listen: url, args: ["--store", `sqlite:${join(folder, "local.db")}`] });
  try {
    const program = join((await rustEnvironment()).CARGO_TARGET_DIR, "debug/ids");
    const printed = await runCommand(program, [], { env: { SNOWLANE_URL: url } });
    expect(printed.trim().split("\n")).toHaveLength(11);
  } finally {
    await local.stop("SIGTERM");
  }
});
