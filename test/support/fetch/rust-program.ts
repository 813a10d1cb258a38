import { join } from "node:path";
import { runCommand } from "../processes/run-command.ts";
import { fetchOnce } from "./user-cache.ts";

/** A program of crates.io. Its own lock file holds each of its parts to its content. */
export interface RustProgram {
  readonly name: string;
  /** For example `0.5.0`; never a range. */
  readonly version: string;
}

/** Builds a Rust program into the cache with this machine's cargo; returns its path. Takes minutes the first time. */
export async function fetchRustProgram({ name, version }: RustProgram): Promise<string> {
  const folder = await fetchOnce(`rust-${name}-${version}`, async (folder) => {
    const args = ["install", "--quiet", "--locked", "--version", `=${version}`, "--root", folder, name];
    await runCommand("nice", ["-n", "10", "cargo", ...args]);
  });
  return join(folder, "bin", name);
}
