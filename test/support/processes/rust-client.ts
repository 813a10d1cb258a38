import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fetchOnce, withCacheLock } from "../fetch/user-cache.ts";
import { runCommand } from "./run-command.ts";

const crate = resolve("clients/rust");

/** Builds are not repeated, and nobody looks into their programs. */
const once = { CARGO_INCREMENTAL: "0", CARGO_PROFILE_DEV_DEBUG: "0" };

/**
 * The environment in which the client for Rust is built, and programs that use it: `CARGO_TARGET_DIR` is a folder of
 * this clone, and begins with the compiled dependencies, which the cache has once for each `Cargo.lock`.
 *
 * Two clones disturb each other in nothing, and what a clone builds goes with it. Within it, Cargo lets one process
 * build at a time.
 */
export function rustEnvironment(): Promise<RustEnvironment> {
  prepared ??= prepare();
  return prepared;
}

type RustEnvironment = typeof once & { readonly CARGO_TARGET_DIR: string };
let prepared: Promise<RustEnvironment> | undefined;

async function prepare(): Promise<RustEnvironment> {
  const version = await runCommand("cargo", ["--version"]).catch((cause: unknown) => {
    throw new Error("The client for Rust needs Rust 1.88 or later, with Cargo.", { cause });
  });
  const key = createHash("sha256")
    .update(version)
    .update(readFileSync(join(crate, "Cargo.lock")));
  const name = `rust-dependencies-${key.digest("hex").slice(0, 12)}`;
  const dependencies = await fetchOnce(name, buildDependencies);
  const target = join(crate, "target");
  const marker = join(target, name);
  await withCacheLock("rust-target", async () => {
    if (existsSync(marker)) return;
    mkdirSync(target, { recursive: true });
    await runCommand("cp", ["-a", "--reflink=auto", `${dependencies}/.`, target]);
    writeFileSync(marker, "");
  });
  return { ...once, CARGO_TARGET_DIR: target };
}

/** Builds all that the client and its tests depend on, and leaves out what is built of the client itself. */
async function buildDependencies(folder: string): Promise<void> {
  const env = { ...once, CARGO_TARGET_DIR: folder };
  await runCommand("cargo", ["test", "--locked", "--quiet", "--no-run"], { cwd: crate, env });
  await runCommand("cargo", ["clippy", "--locked", "--quiet", "--all-targets"], { cwd: crate, env });
  await runCommand("cargo", ["clean", "--locked", "--quiet", "--package", "snowlane"], { cwd: crate, env });
}

/** Builds the program of the client that `npm run conformance` starts; returns its path. */
export async function buildRustProgram(): Promise<string> {
  const env = await rustEnvironment();
  const args = ["build", "--locked", "--quiet", "--example", "conformance_program"];
  await runCommand("cargo", args, { cwd: crate, env });
  return join(env.CARGO_TARGET_DIR, "debug/examples/conformance_program");
}
