import { cpSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Maven, onlineMaven } from "../support/fetch/maven-repository.ts";
import { compileExample, installFrameworks } from "../support/processes/java-frameworks.ts";
import { runCommand } from "../support/processes/run-command.ts";

/** A program of examples/: how it is installed in a copy of its folder, from the package registries. */
export interface Example {
  /** Of its folder, and behind a space the version of the framework where it is not that of the folder. */
  readonly name: string;
  /** @returns The command that calls it. */
  readonly install: (copy: string) => Promise<readonly string[]>;
}

/** @param instead - A version of a package that takes the place of the one that the folder names. */
function python(name: string, instead?: string): Example {
  return {
    name: [name, instead?.split("==")[1]].filter(Boolean).join(" "),
    install: async (copy) => {
      await runCommand("python3", ["-m", "venv", ".venv"], { cwd: copy });
      const source = join(copy, "client");
      cpSync("clients/python", source, { recursive: true });
      const args = ["-m", "pip", "install", "--quiet", "--requirement", "requirements.txt", `${source}[${name}]`];
      await runCommand(join(copy, ".venv/bin/python"), args, { cwd: copy });
      if (instead !== undefined)
        await runCommand(join(copy, ".venv/bin/python"), ["-m", "pip", "install", "--quiet", instead], { cwd: copy });
      return [join(copy, ".venv/bin/python"), "app.py"];
    },
  };
}

function node(name: string, program: string): Example {
  return {
    name,
    install: async (copy) => {
      const packed = await runCommand("npm", ["pack", "--workspace", "@snowlane/client", "--pack-destination", copy]);
      const client = join(copy, packed.trim().split("\n").at(-1)!);
      await runCommand("npm", ["install", "--no-audit", "--no-fund", client], { cwd: copy });
      // An engine for migrations, which "generate" does not call; it would be fetched from Prisma's own server.
      const env = { PRISMA_SCHEMA_ENGINE_BINARY: process.execPath };
      await runCommand("npm", ["run", "--if-present", "generate"], { cwd: copy, env });
      return [process.execPath, program];
    },
  };
}

const gorm: Example = {
  name: "gorm",
  install: async (copy) => {
    const client = ["-require", "snowlane.dev/go@v0.0.0", "-replace", `snowlane.dev/go=${resolve("clients/go")}`];
    await runCommand("go", ["mod", "edit", ...client], { cwd: copy });
    await runCommand("go", ["mod", "tidy"], { cwd: copy });
    await runCommand("nice", ["go", "build", "-o", "app"], { cwd: copy });
    return [join(copy, "app")];
  },
};

/** Maven with the client and the modules for frameworks, and the copy of these modules that it has built. */
export interface InstalledModules {
  readonly maven: Maven;
  readonly sources: string;
}

const installedModules = new Map<string, Promise<InstalledModules>>();

async function install(work: string): Promise<InstalledModules> {
  const maven = onlineMaven(join(work, "repository"));
  await installFrameworks(maven, work, { args: ["-DskipTests"] });
  return { maven, sources: join(work, "java/frameworks") };
}

/** Installs what all programs of Java need below a folder, once. */
export function installModules(folder: string): Promise<InstalledModules> {
  const work = join(folder, "maven");
  const modules = installedModules.get(work) ?? install(work);
  installedModules.set(work, modules);
  return modules;
}

function java(name: string, ...args: readonly string[]): Example {
  return {
    name,
    install: async (copy) => await compileExample((await installModules(dirname(copy))).maven, copy, args),
  };
}

export const examples: readonly Example[] = [
  python("sqlalchemy"),
  python("sqlalchemy", "sqlalchemy==2.0.44"),
  python("django"),
  python("django", "django==4.2.30"),
  node("drizzle", "app.mjs"),
  node("typeorm", "app.mjs"),
  node("prisma", "app.ts"),
  gorm,
  java("spring-boot"),
  java("spring-boot 3.5.7", "-Dspring-boot.version=3.5.7"),
  java("hibernate"),
  java("hibernate 6.6.29", "-Dhibernate.version=6.6.29.Final"),
  java("mybatis-plus"),
];
