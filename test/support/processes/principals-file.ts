import { createHash } from "node:crypto";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "./running-server.ts";

/** One principal of a test, whose token is {@link tokenOf} its name. */
export interface TestPrincipal {
  readonly name: string;
  readonly permissions: readonly string[];
  readonly certificates?: readonly string[];
  readonly idsPerSecond?: number;
  readonly callsPerSecond?: number;
  readonly streamsMax?: number;
}

/** The token of a principal of a test. */
export function tokenOf(name: string): string {
  return `snw_token-of-${name}`;
}

/** The fields of a request with the token of a principal. */
export function bearer(name: string): { readonly authorization: string } {
  return { authorization: `Bearer ${tokenOf(name)}` };
}

/** As it is in the file. */
export function digestOf(token: string): string {
  return `sha256:${createHash("sha256").update(token).digest("hex")}`;
}

/** Writes a file of principals in one step. */
export function writePrincipals(path: string, principals: readonly TestPrincipal[]): void {
  const entries = principals.map((one) => ({ ...one, tokens: [digestOf(tokenOf(one.name))] }));
  writeFileSync(`${path}.new`, JSON.stringify({ principals: entries }), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** A file of principals in a folder of its own; `write` replaces it in one step. */
export function principalsFile(principals: readonly TestPrincipal[]) {
  const folder = temporaryFolder();
  const path = join(folder, "principals.json");
  const write = (listed: readonly TestPrincipal[]): void => writePrincipals(path, listed);
  write(principals);
  return { path, write };
}
