import { writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { runCommand } from "../processes/run-command.ts";
import { fetchOnce } from "./user-cache.ts";

/** A Go program of our own few lines over a module whose program `go install` refuses, as it replaces its parts. */
export interface GoMain {
  readonly name: string;
  readonly module: string;
  /** For example `v3.6.8`. The Go checksum database holds the module to its content. */
  readonly version: string;
  /** Text of main.go. */
  readonly main: string;
  /** Lines of go.mod that put other modules in place of those that the module asks for. */
  readonly replaces?: () => Promise<string>;
  /** Of the linker. */
  readonly flags?: string;
}

/** Builds it into the cache with the Go of this machine; returns its path. Takes minutes the first time. */
export async function fetchGoMain(program: GoMain): Promise<string> {
  const { name, module, version, main, replaces, flags = "-s -w" } = program;
  const folder = await fetchOnce(`${name}-${version}`, async (folder) => {
    const source = join(folder, "source");
    await mkdir(source);
    const replaced = (await replaces?.()) ?? "";
    writeFileSync(join(source, "go.mod"), `module main\n\ngo 1.24\n\nrequire ${module} ${version}\n\n${replaced}`);
    writeFileSync(join(source, "main.go"), main);
    const options = { cwd: source, env: { GOFLAGS: "-mod=mod", CGO_ENABLED: "0" } };
    await runCommand("go", ["mod", "tidy"], options);
    const target = join(folder, name);
    await runCommand("nice", ["-n", "10", "go", "build", "-trimpath", "-ldflags", flags, "-o", target, "."], options);
  });
  return join(folder, name);
}
