import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { fetchMavenRepository, keyOfPoms, type Maven, offlineMaven, shortLived } from "../fetch/maven-repository.ts";
import { fetchOnce } from "../fetch/user-cache.ts";
import { runCommand } from "./run-command.ts";

const project = resolve("clients/java");
/** Writes the class path of a project into the file `mdep.outputFile`. */
export const classpathGoal = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath";

/** Maven for the Java client, offline. */
export interface JavaBuilds {
  readonly maven: Maven;
  /** Its local repository. */
  readonly repository: string;
}

/** Fetches, once, all that the builds of this file need. */
export async function prepareJavaBuilds(): Promise<JavaBuilds> {
  const key = keyOfPoms([join(project, "pom.xml")]);
  const repository = await fetchMavenRepository({ name: "java-client", key, installed: "dev" }, async (maven) => {
    const folder = mkdtempSync(join(tmpdir(), "snowlane-java-"));
    try {
      const target = join(folder, "target");
      await maven(project, [`-Dsnowlane.target=${target}`, "-Dtest=ClaimableRunTest", "install"]);
      await compileTests(maven, target);
      await compileProject(maven, writeProject(join(folder, "project"), "http://127.0.0.1:7609"));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
  return { maven: offlineMaven(repository), repository };
}

/** Compiles the client and its tests into a folder; returns the class path of the tests. */
export async function compileTests(maven: Maven, target: string): Promise<string> {
  const file = join(target, "classpath.txt");
  const goal = [classpathGoal, `-Dmdep.outputFile=${file}`, "-Dmdep.includeScope=test"];
  await maven(project, [`-Dsnowlane.target=${target}`, "test-compile", ...goal]);
  return [join(target, "test-classes"), join(target, "classes"), readFileSync(file, "utf8").trim()].join(delimiter);
}

/** The client and its tests, ready to run. */
export interface CompiledTests {
  readonly classpath: string;
  /** Options of a Java over that class path, by which it starts in half the time. */
  readonly options: readonly string[];
}

/** Compiles the client and its tests once for each state of their sources, into the cache. */
export async function compiledTests(): Promise<CompiledTests> {
  const { maven, repository } = await prepareJavaBuilds();
  const digest = createHash("sha256").update(repository);
  const sources = readdirSync(join(project, "src"), { recursive: true, encoding: "utf8" }).toSorted();
  for (const path of sources.filter((path) => path.endsWith(".java"))) {
    digest.update(`${path}\0`).update(readFileSync(join(project, "src", path)));
  }
  const folder = await fetchOnce(`java-tests-${digest.digest("hex").slice(0, 12)}`, async (folder) => {
    await packTests(maven, folder);
    await archiveClasses(folder);
  });
  return testsIn(folder);
}

function testsIn(folder: string): CompiledTests {
  const classpath = readFileSync(join(folder, "classpath.txt"), "utf8");
  return { classpath, options: [...shortLived, `-XX:SharedArchiveFile=${join(folder, "classes.jsa")}`] };
}

/** An archive of classes takes no folder in its class path, only jars. */
async function packTests(maven: Maven, folder: string): Promise<void> {
  const target = mkdtempSync(join(tmpdir(), "snowlane-java-"));
  try {
    const [tests = "", client = "", ...others] = (await compileTests(maven, target)).split(delimiter);
    const jars = [join(folder, "tests.jar"), join(folder, "client.jar")] as const;
    await runCommand("jar", ["--create", "--file", jars[0], "-C", tests, "."]);
    await runCommand("jar", ["--create", "--file", jars[1], "-C", client, "."]);
    writeFileSync(join(folder, "classpath.txt"), [...jars, ...others].join(delimiter));
  } finally {
    rmSync(target, { recursive: true, force: true });
  }
}

/** Keeps, parsed and linked, the classes that clients load for their first calls: to a port where nobody listens. */
async function archiveClasses(folder: string): Promise<void> {
  const archive = `-XX:ArchiveClassesAtExit=${join(folder, "classes.jsa")}`;
  const commands = [0, 1].flatMap((buffer) => [
    `open client=c${buffer} endpoints=http://127.0.0.1:1 retry_max=0 buffer=${buffer}`,
    `call client=c${buffer} count=1`,
    `close client=c${buffer}`,
  ]);
  const program = ["-cp", testsIn(folder).classpath, "dev.snowlane.client.InteropProgram"];
  await runCommand("java", [...shortLived, archive, ...program], { input: `${commands.join("\n")}\n` });
}

/** Makes an empty project of the README's lines, which calls the server at `url`; returns its folder. */
export function writeProject(folder: string, url: string): string {
  const readme = readFileSync(join(project, "README.md"), "utf8");
  const [dependency = ""] = /<dependency>[\s\S]*?<\/dependency>/.exec(readme) ?? [];
  const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>com.example</groupId>
  <artifactId>ids</artifactId>
  <version>1</version>
  <properties>
    <maven.compiler.source>17</maven.compiler.source>
    <maven.compiler.target>17</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
${dependency}
  </dependencies>
</project>
`;
  const code = readFileSync(join(project, "samples", "Quickstart.java"), "utf8");
  const sources = join(folder, "src", "main", "java");
  mkdirSync(sources, { recursive: true });
  writeFileSync(join(folder, "pom.xml"), pom);
  writeFileSync(join(sources, "Quickstart.java"), code.replace(".build()", `.endpoints("${url}").build()`));
  return folder;
}

/** Compiles such a project; returns its class path. */
export async function compileProject(maven: Maven, folder: string): Promise<string> {
  const file = join(folder, "classpath.txt");
  await maven(folder, ["compile", classpathGoal, `-Dmdep.outputFile=${file}`]);
  return [join(folder, "target", "classes"), readFileSync(file, "utf8").trim()].join(delimiter);
}

/** Maven over a new local repository in `folder`: what is installed there stays there, the rest is linked. */
export function mavenOfNewRepository({ repository }: JavaBuilds, folder: string): Maven {
  mkdirSync(folder);
  for (const { name } of readdirSync(repository, { withFileTypes: true }).filter((entry) => entry.isDirectory())) {
    symlinkSync(join(repository, name), join(folder, name));
  }
  return offlineMaven(folder);
}
