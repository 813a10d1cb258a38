import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { fetchMavenRepository, keyOfPoms, type Maven, offlineMaven, shortLived } from "../fetch/maven-repository.ts";
import { classpathGoal, type JavaBuilds } from "./java-client.ts";

/** For a build that leaves out what only a release needs. */
const quick: readonly string[] = [
  "-Dmaven.javadoc.skip=true",
  "-Dmaven.source.skip=true",
  `-DargLine=${shortLived.join(" ")}`,
];

/**
 * Builds the client and the modules for frameworks in copies of their folders, and installs them for Maven.
 *
 * @param work - An empty folder.
 * @param options - `args`: for the modules, such as `-DskipTests`. `each`: for the client, too.
 */
export async function installFrameworks(
  maven: Maven,
  work: string,
  { args = [], each = quick }: { readonly args?: readonly string[]; readonly each?: readonly string[] } = {},
): Promise<void> {
  const copy = join(work, "java");
  mkdirSync(copy, { recursive: true });
  cpSync("clients/java/LICENSE", join(copy, "LICENSE"));
  cpSync("clients/java/frameworks", join(copy, "frameworks"), { recursive: true });
  // The client's own tests run in java.test.ts.
  const client = [`-Dsnowlane.target=${join(work, "client")}`, "-Dmaven.test.skip=true"];
  await maven(resolve("clients/java"), [...client, ...each, "install"]);
  await maven(join(copy, "frameworks"), [...args, ...each, "install"]);
}

/** Compiles an example in a copy of its folder; returns how Java calls it. */
export async function compileExample(
  maven: Maven,
  copy: string,
  args: readonly string[] = [],
): Promise<readonly string[]> {
  await maven(copy, [...args, "compile", classpathGoal, "-Dmdep.outputFile=classpath.txt"]);
  const classpath = [join(copy, "target/classes"), readFileSync(join(copy, "classpath.txt"), "utf8").trim()];
  return ["java", ...shortLived, "-cp", classpath.join(delimiter), "shop.App"];
}

/** Fetches, once, what the builds of the modules, their tests and packages, and `examples/spring-boot` need. */
export async function prepareFrameworkBuilds(): Promise<JavaBuilds> {
  const poms = [
    "clients/java/pom.xml",
    ...globSync("clients/java/frameworks/**/pom.xml"),
    "examples/spring-boot/pom.xml",
  ];
  const key = keyOfPoms(poms.toSorted());
  const repository = await fetchMavenRepository({ name: "java-frameworks", key, installed: "dev" }, async (maven) => {
    const folder = mkdtempSync(join(tmpdir(), "snowlane-frameworks-"));
    try {
      await installFrameworks(maven, folder, { each: [] });
      cpSync("examples/spring-boot", join(folder, "example"), { recursive: true });
      await compileExample(maven, join(folder, "example"));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
  return { maven: offlineMaven(repository), repository };
}
