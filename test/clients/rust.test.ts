import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { rustTarget } from "../support/processes/rust-client.ts";
import { runReadmeBlock } from "../support/processes/bare-clone.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";

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

const cargo = (args: readonly string[], cwd = crate): Promise<string> =>
  runCommand("cargo", args, { cwd, env: { CARGO_TARGET_DIR: rustTarget(), SNOWLANE_URL: server.url } });

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

test("the lines of its README make a program that gets IDs", { timeout }, async () => {
  const project = join(folder, "project");
  mkdirSync(join(project, "src"), { recursive: true });
  const head = '[package]\nname = "ids"\nversion = "0.0.0"\nedition = "2024"\n';
  writeFileSync(join(project, "Cargo.toml"), head);
  writeFileSync(join(project, "src/main.rs"), readFileSync(join(crate, "examples/basic.rs"), "utf8"));
  const places = { "/path/to/snowlane": process.cwd() };
  await runReadmeBlock("clients/rust/README.md", 0, { cwd: project, places });
  const ids = (await cargo(["run", "--quiet"], project)).trim().split("\n").map(BigInt);
  expect(ids).toHaveLength(11);
  expect(ids.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(ids);
});
