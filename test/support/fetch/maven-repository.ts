import { createHash } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { placeholder, repositoryAddress } from "../../../tools/repository-address.ts";
import { runCommand } from "../processes/run-command.ts";
import { fetchOnce } from "./user-cache.ts";

/** Options of a Java process that is over before the second compiler, or threads that collect garbage, have paid. */
export const shortLived: readonly string[] = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];

/** Runs Maven in a folder. */
export type Maven = (cwd: string, args: readonly string[]) => Promise<string>;

/**
 * Fills a Maven repository of the cache with all that some builds need, by running them once; returns its folder.
 *
 * Builds over it run offline: none waits for the network or fails with it, and two at once do not fetch into one
 * folder.
 *
 * @param key - Text that names what the builds need. Another text, or another Maven, is another repository.
 * @param builds - Runs them. What they install under `installed` is not kept.
 */
export async function fetchMavenRepository(
  { name, key, installed }: { readonly name: string; readonly key: string; readonly installed: string },
  builds: (maven: Maven) => Promise<void>,
): Promise<string> {
  const version = await runCommand("mvn", ["--version"]).catch((cause: unknown) => {
    throw new Error("The Java client needs a JDK of 17 or later, and Maven: apt-get install maven", { cause });
  });
  const digest = createHash("sha256").update(version).update(key).digest("hex").slice(0, 12);
  return await fetchOnce(`maven-repository-${name}-${digest}`, async (folder) => {
    await builds(onlineMaven(folder));
    rmSync(join(folder, installed), { recursive: true, force: true });
  });
}

/** The key of builds by these poms: they need the same, whatever address of this project's repository the poms have. */
export function keyOfPoms(paths: readonly string[]): string {
  const address = repositoryAddress(".");
  return paths.map((path) => readFileSync(path, "utf8").replaceAll(address, placeholder)).join("");
}

/** Maven over a repository that {@link fetchMavenRepository} has filled. */
export function offlineMaven(repository: string): Maven {
  return (cwd, args) => runMaven(cwd, ["--offline", `-Dmaven.repo.local=${repository}`, ...args]);
}

/** Maven that fetches what it needs into a repository of its own. */
export function onlineMaven(repository: string): Maven {
  return (cwd, args) => runMaven(cwd, [`-Dmaven.repo.local=${repository}`, ...args]);
}

async function runMaven(cwd: string, args: readonly string[]): Promise<string> {
  const options = [process.env["MAVEN_OPTS"] ?? "", ...shortLived].join(" ").trim();
  return await runCommand("mvn", ["--batch-mode", "--quiet", ...args], { cwd, env: { MAVEN_OPTS: options } });
}
