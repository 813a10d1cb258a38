import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "../fetch/user-cache.ts";
import { runCommand } from "./run-command.ts";

/** Where the client for Rust is built. Cargo builds again what has changed, and lets one process do so at a time. */
export function rustTarget(): string {
  const folder = join(cacheFolder(), "rust-target");
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Builds the program of the client that `npm run conformance` starts; returns its path. */
export async function buildRustProgram(): Promise<string> {
  const args = ["build", "--locked", "--quiet", "--example", "conformance_program"];
  await runCommand("cargo", args, { cwd: "clients/rust", env: { CARGO_TARGET_DIR: rustTarget() } });
  return join(rustTarget(), "debug/examples/conformance_program");
}
