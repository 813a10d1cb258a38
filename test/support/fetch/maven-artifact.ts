import { createHash } from "node:crypto";
import { chmodSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../processes/run-command.ts";
import { fetchOnce } from "./user-cache.ts";

/** One file of a Maven repository. */
export interface MavenArtifact {
  /** `group:artifact:version[:type[:classifier]]`, for example `com.google.protobuf:protoc:4.36.2:exe:linux-x86_64`. */
  readonly coordinates: string;
  /** In hex. */
  readonly sha256: string;
}

const dependencyPlugin = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1";

/**
 * Copies one file of a Maven repository into the cache, with the Maven of this machine; returns its path. It may be
 * executed.
 */
export async function fetchMavenArtifact({ coordinates, sha256 }: MavenArtifact): Promise<string> {
  const folder = await fetchOnce(`maven-${coordinates}`, async (folder) => {
    await runCommand("mvn", [
      "--batch-mode",
      "--quiet",
      `${dependencyPlugin}:copy`,
      `-Dartifact=${coordinates}`,
      `-DoutputDirectory=${folder}`,
    ]);
    const path = onlyFile(folder);
    const found = createHash("sha256").update(readFileSync(path)).digest("hex");
    if (found !== sha256) throw new Error(`${coordinates} has the SHA-256 ${found} instead of ${sha256}.`);
    chmodSync(path, 0o755);
  });
  return onlyFile(folder);
}

function onlyFile(folder: string): string {
  const file = readdirSync(folder).find((name) => !name.startsWith("."));
  if (file === undefined) throw new Error(`${folder} is empty.`);
  return join(folder, file);
}
