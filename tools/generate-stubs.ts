import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { runCommand } from "../test/support/processes/run-command.ts";
import { fetchClientStubTools } from "./client-stub-tools.ts";

/** Folders that buf.gen.yaml and buf.gen.clients.yaml fill: nothing written by hand may lie in them. */
export const typeScriptStubFolders: readonly string[] = ["src/gen"];
export const clientStubFolders: readonly string[] = [
  "clients/go/gen",
  "clients/java/src/generated/java",
  "clients/python/src/snowlane/_gen",
  "clients/rust/src/generated",
];

/**
 * Writes the stubs of TypeScript. Needs Node alone.
 *
 * @param root - What stands for the root of the repository in the paths that are written.
 */
export async function generateTypeScriptStubs(root: string): Promise<void> {
  await runCommand("node_modules/.bin/buf", ["generate", "--output", root]);
}

/**
 * Writes the stubs of Go, Java, Python and Rust: see {@link generateTypeScriptStubs}. Needs their tool chains; says
 * which is missing.
 */
export async function generateClientStubs(root: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-generate-"));
  try {
    const folders = await fetchClientStubTools(folder);
    const PATH = [...folders, process.env["PATH"]].join(delimiter);
    const args = ["generate", "--template", "buf.gen.clients.yaml", "--output", root];
    await runCommand("node_modules/.bin/buf", args, { env: { PATH } });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
