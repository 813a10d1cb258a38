import { createHash } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../processes/run-command.ts";
import { fetchOnce } from "./user-cache.ts";

/** Files of a Maven repository, with all that they need. */
export interface MavenClassPath {
  readonly name: string;
  /** `group:artifact:version` of each. */
  readonly coordinates: readonly string[];
  /** One of the files, and its SHA-256 in hex. Of the others Maven checks the repository's own sums alone. */
  readonly checked: { readonly file: string; readonly sha256: string };
}

/** Copies them into a folder of the cache, with the Maven of this machine; returns the folder. */
export async function fetchMavenClassPath({ name, coordinates, checked }: MavenClassPath): Promise<string> {
  return await fetchOnce(`maven-${name}`, async (folder) => {
    const pom = join(folder, "pom.xml");
    writeFileSync(pom, pomOf(coordinates));
    const goal = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies";
    await runCommand("mvn", ["--batch-mode", "--quiet", "--file", pom, goal, `-DoutputDirectory=${folder}`]);
    rmSync(pom);
    const found = createHash("sha256")
      .update(readFileSync(join(folder, checked.file)))
      .digest("hex");
    if (found !== checked.sha256) throw new Error(`${checked.file} has the SHA-256 ${found}, not ${checked.sha256}.`);
  });
}

function pomOf(coordinates: readonly string[]): string {
  const dependencies = coordinates.map((one) => {
    const [group, artifact, version] = one.split(":");
    return `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`;
  });
  return `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>local</groupId><artifactId>class-path</artifactId><version>1</version>
<dependencies>${dependencies.join("\n")}</dependencies></project>\n`;
}
