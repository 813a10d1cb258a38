import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { bearer, digestOf, tokenOf } from "../support/processes/principals-file.ts";

/** A caller with a token and a quota that it never reaches. */
export interface BenchPrincipal {
  /** The file for `--principals`. */
  readonly path: string;
  /** The fields of its requests. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Writes a file of principals into a folder: the caller of the load, and others, as many as a server has. */
export function writePrincipal(folder: string): BenchPrincipal {
  const names = Array.from({ length: 20 }, (_, index) => `caller-${index}`);
  const principals = names.map((name) => ({
    name,
    tokens: [digestOf(tokenOf(name))],
    // That of the client of test/support/processes/certificates.ts.
    certificates: name === "caller-7" ? ["dns:client"] : [],
    permissions: ["ids"],
    idsPerSecond: 1_000_000_000,
    callsPerSecond: 1_000_000_000,
  }));
  const path = join(folder, "principals.json");
  writeFileSync(path, JSON.stringify({ principals }));
  return { path, headers: bearer("caller-7") };
}
